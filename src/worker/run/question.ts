import { canonicalMessage } from '../../agent/context/canonical.ts';
import type { Claim } from '../../database/store/run/claim-run.ts';
import type { MarkedMessage, RunQuestion } from '../../agent/strategies/machine.ts';
import { isText, textOf } from '../../agent/context/message.ts';

/** The run's user message, and the lane before it. */
export function questionOf({ context, user_seq: userSeq }: Claim): RunQuestion {
  const at = context.findIndex((row) => row.seq === userSeq && row.role === 'user');
  const content = context[at]?.content ?? '';
  const system = context.find((row) => row.role === 'system')?.content;
  const before = context.slice(0, Math.max(at, 0)).filter((row) => row.role !== 'system');
  return {
    text: textOf(content),
    parts: typeof content === 'string' ? [] : content.filter((part) => !isText(part)),
    system: typeof system === 'string' ? system : null,
    history: before.map(marked),
  };
}

/** The message with the `refs` that context policies read; the recorded cuts of other calls do not apply here. */
function marked({ refs, ...row }: Claim['context'][number]): MarkedMessage {
  const { kind, durable } = refs ?? {};
  const message = canonicalMessage(row);
  return kind === undefined ? message : { ...message, refs: { kind, ...(durable === undefined ? {} : { durable }) } };
}
