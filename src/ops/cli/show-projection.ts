import type { ContextProjection } from '../../runs/operations/contexts/project.ts';
import type { JsonObject } from '../../agent/context/message.ts';
import { printable } from '../../base/log/printable.ts';
import { inOneLine, messageText } from './show-message.ts';
import { colours } from './output.ts';

const number = (value: number): string => value.toLocaleString('en');

/** A projection as text: its cost, then a line for each message of the lane with the reason it is sent or not. */
export function showProjection({ messages, meta, explain = [] }: ContextProjection): string {
  const c = colours();
  const texts = new Map(messages.map((row) => [`${row.seq} ${row.role}`, messageText(row)]));
  const limit = meta.budget === null ? 'no limit' : `${number(meta.budget)} tokens`;
  const flags = [
    meta.truncated && 'truncated',
    meta.over_budget && 'over budget',
    meta.summary_used && 'with a summary',
  ];
  const head = [
    `${meta.entries_included} of ${meta.entries_total} messages`,
    `${number(meta.estimated_tokens)} tokens (${printable(meta.estimator.name)})`,
    `budget: ${limit}`,
    ...flags.filter((flag) => typeof flag === 'string'),
  ];
  const lines = explain.map(({ seq, role, tokens, included, reason, message }) => {
    const cells = [
      `#${seq}`.padStart(6),
      role.padEnd(9),
      number(tokens).padStart(8),
      included ? '+' : '-',
      reason.padEnd(15),
    ];
    const text = inOneLine(
      (message ? messageText(message as unknown as JsonObject) : texts.get(`${seq} ${role}`)) ?? '',
      50,
    );
    const line = `${cells.join(' ')} ${text}`.trimEnd();
    return included ? line : c.dim(line);
  });
  return [head.join(', '), '', ...lines].join('\n');
}
