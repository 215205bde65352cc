import { LanefoldError } from '../errors.ts';

/** Keys that the runtime writes into the `refs` of an entry. */
const reserved = new Set([
  ...['kind', 'request_id', 'run_id', 'durable', 'iteration', 'context_hash', 'llm_call_id'],
  ...['policy_hash', 'dropped', 'transformed', 'source', 'contents', 'child_run', 'handoff', 'agent_version'],
  ...['tool_calls_cut', 'kinds', 'kinds_cut', 'cut_moved', 'over_budget', 'summary_role', 'sent_as', 'room'],
]);

/** Rejects refs that could be mistaken for the runtime's own. @throws LanefoldError `invalid_input` */
export function assertRefs(refs: unknown): void {
  if (refs === undefined || refs === null || typeof refs !== 'object') return;
  const key = Object.keys(refs).find((name) => reserved.has(name));
  if (key === undefined) return;
  throw new LanefoldError('invalid_input', `The key ${JSON.stringify(key)} of the refs is reserved.`, {
    hint: `Nothing was written. Reserved: ${[...reserved].join(', ')}.`,
    details: { key },
  });
}
