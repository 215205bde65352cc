import { canonicalMessage, differsAt } from '../../../agent/context/canonical.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import type { CallRecord } from '../../../database/store/context/read-call.ts';
import { readSent, type SentRow, readPrefixChanges } from '../../../database/store/context/read-context.ts';
import type { PrefixBreak } from './types.ts';

/**
 * What broke the prefix of a call: another message, or another model of the chain. Undefined if the call begins with everything that
 * the previous one sent, is the first on its lane, or the log lacks what either of them sent.
 */
export async function findPrefixBreak(
  db: Database,
  threadId: string,
  call: CallRecord,
  sent: readonly SentRow[],
): Promise<PrefixBreak | undefined> {
  if (call.previous === null) return undefined;
  // what a provider has cached for one model serves no other
  const fellBack = call.refs['fallback'] === true || call.previous_fell_back === true;
  if (fellBack && call.model !== call.previous_model) return { position: 0, seq: call.seq, cause: 'fallback' };
  const before = await readSent(db, threadId, call.previous);
  if (isAltered(before) || isAltered(sent)) return undefined;
  const position = differsAt(before.map(canonicalMessage), sent.map(canonicalMessage));
  if (position === undefined) return undefined;
  const answered = { after: call.previous_seq!, before: call.seq };
  const changes = await readPrefixChanges(db, threadId, call.context_ref, answered);
  const ofPrompt = before[position]?.role === 'system' || sent[position]?.role === 'system';
  const change = ofPrompt ? (changes.find((one) => one.of_prompt) ?? changes[0]) : changes.find((one) => one.is_anchor);
  if (!change) return { position, seq: call.seq, cause: 'policy' };
  return { position, seq: change.seq, cause: change.is_anchor ? 'anchor' : 'prompt' };
}

const isAltered = (rows: readonly SentRow[]): boolean => rows[0]?.altered === 'transformer';
