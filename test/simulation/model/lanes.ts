import { foldContext, type ContextRow } from '../../../src/agent/context/fold.ts';
import type { Body, Thread } from './state.ts';

/** The context of a lane after the entry `upto`. */
export const contextAt = (thread: Thread, lane: string, upto: number): ContextRow[] =>
  foldContext(thread.entries, lane, upto);

const marks = ['kind', 'dropped', 'kinds'];
const kept = ['kind', 'durable', 'policy_hash', 'dropped', 'kinds', 'kinds_cut'];

/** What a claim returns of a message: of its refs, those that a context policy needs. */
export const toClaimed = ({
  anchor_seq: _,
  ordinal: __,
  run_id: ___,
  request_id: ____,
  refs,
  ...row
}: ContextRow): Body => {
  const own = refs as Body | null;
  if (!own || !marks.some((key) => key in own)) return row;
  return { ...row, refs: Object.fromEntries(kept.filter((key) => key in own).map((key) => [key, own[key]])) };
};

/** The context of a lane as an anchor can have it: its messages, and its prompt if there is one. */
export function snapshotOf(thread: Thread, lane: string, upto: number): { entries: Body[]; system_prompt?: string } {
  const rows = contextAt(thread, lane, upto);
  const prompt = rows.find(({ role }) => role === 'system');
  return {
    entries: rows
      .filter(({ role }) => role !== 'system')
      .map(({ anchor_seq: _, ordinal: __, seq: ___, ...row }) =>
        Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)),
      ),
    ...(prompt ? { system_prompt: prompt.content as string } : {}),
  };
}
