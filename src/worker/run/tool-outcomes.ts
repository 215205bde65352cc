import type { ReadyAgent } from '../../agent/definition/registry.ts';
import { readContentName, shorten, type LargeContent } from '../../agent/context/large-content.ts';
import { judgeEffects } from '../../agent/tools/effects.ts';
import { type ToolOutcome, renderResult } from '../../agent/tools/outcome.ts';
import type { Tool } from '../../agent/tools/tool.ts';
import { resultLimit } from './after-crash.ts';
import type { RunDependencies } from './dependencies.ts';
import { omitUndefined } from '../../base/common/json.ts';
import type { JsonObject } from '../../agent/context/message.ts';
import type { LedgerRow } from '../../database/store/run/claim-run.ts';

/** An outcome with its effects as the policy of the agent leaves them, and the refs that its tool adds. */
export function judged({ offered, ...outcome }: ToolOutcome, tool: Tool, agent: ReadyAgent): ToolOutcome {
  const refs = outcome.status === 'ok' ? tool.resultRefs?.(outcome.content) : undefined;
  return {
    ...outcome,
    ...(offered ? judgeEffects(offered, agent.effectPolicy, agent.maxInlineBytes) : {}),
    ...(refs ? { refs } : {}),
  };
}

/** A result, or the error that it is too large for its tool. */
export function within(outcome: ToolOutcome, tool: Tool, agent: ReadyAgent): ToolOutcome {
  if (outcome.status !== 'ok') return outcome;
  const { status, content, error } = renderResult(outcome.content, tool.maxResultBytes ?? resultLimit(agent, tool));
  return status === 'ok' ? outcome : { ...outcome, status, content, ...(error && { error }) };
}

/**
 * A result as the model sees it, and the full text if it was shortened. Results that a tool marks, such as skills, stay
 * whole.
 */
export function shortened(
  outcome: ToolOutcome,
  tool: Tool,
  { settings }: RunDependencies['db'],
): { outcome: ToolOutcome; content?: LargeContent } {
  const limit = settings.largeContentBytes;
  if (limit === undefined || outcome.status !== 'ok' || tool.resultRefs || tool.name === readContentName)
    return { outcome };
  const short = shorten(outcome.content, limit);
  if (!short) return { outcome };
  const refs = { ...outcome.refs, contents: [short.ref] };
  return { outcome: { ...outcome, content: short.text, refs }, content: short.content };
}

/** An outcome as the ledger stores it. */
export const ledgerRow = (outcome: ToolOutcome): JsonObject => ({
  status: outcome.status,
  attempts: outcome.attempts,
  duration_ms: outcome.durationMs,
  ...(outcome.status === 'waiting'
    ? {}
    : { outcome: { content: outcome.content, ...extras(outcome) } as unknown as JsonObject }),
});

export const fromLedger = (row: LedgerRow): ToolOutcome => ({
  status: row.status as ToolOutcome['status'],
  content: row.outcome!.content,
  attempts: row.attempts,
  durationMs: row.duration_ms ?? 0,
  ...extras(row.outcome!),
});

/** The optional fields of an outcome that are set. */
const extras = ({
  cleaned,
  effects,
  refused,
  refs,
  next,
  waited,
}: Pick<ToolOutcome, 'cleaned' | 'effects' | 'refused' | 'refs' | 'next' | 'waited'>) =>
  omitUndefined({ cleaned, effects, refused, refs, next, waited });
