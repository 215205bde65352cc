import type { JsonObject } from '../../agent/context/message.ts';
import { changeOf } from '../../runs/formats/mirror/openai-entry.ts';
import { emptyLane, readLaneField } from '../../runs/formats/mirror/plan.ts';
import { unreadable } from '../../database/store/history/unreadable.ts';

/** A session after some entries. */
export interface SessionState {
  /** `seq` of its last entry; -1 without one. */
  after: number;
  /** `seq` of the last clear; ids of operations are free again after it. */
  epoch: number;
  items: string[];
  /** Where the lane ended after the last entry. */
  laneSeq: number;
}

export const emptySession: SessionState = { after: -1, epoch: -1, items: [], laneSeq: emptyLane.lastSeq };

/** The session after more entries. @throws LanefoldError `history_unreadable` */
export function fold(state: SessionState, entries: readonly { seq: number; payload: JsonObject }[]): SessionState {
  if (entries.length === 0) return state;
  let { epoch, laneSeq } = state;
  let items = [...state.items];
  for (const entry of entries) {
    const { seq } = entry;
    const change = changeOf(entry);
    if (change.clear) [items, epoch] = [[], change.epoch ?? seq];
    if (change.drop) {
      if (change.drop > items.length) throw unreadable(`The session in entry ${seq}`);
      items.length -= change.drop;
    }
    for (const item of change.items) items.push(item);
    if (change.lane !== undefined) laneSeq = readLaneField(change.lane, seq);
  }
  return { after: entries.at(-1)!.seq, epoch, items, laneSeq };
}

/** Clears have keys that sort by the `rev` at which they were appended, so that the last one is found at once. */
export const clears = { from: 'openai_agents.clear.', below: 'openai_agents.clear/' };

export const keyOf = (clear: true | undefined, rev: number, id: string): string =>
  clear ? `${clears.from}${String(rev).padStart(16, '0')}.${id}` : `openai_agents.${id}`;
