import type { LaneChange } from '../../../database/store/log/append-history.ts';
import type { LaneView, Shown } from './lane-view.ts';

/** What a history knows of its lane: what it shows, and the `seq` where it ends; -1 for a lane without messages. */
export interface LaneState {
  lastSeq: number;
  /** Undefined: something that the history did not write. */
  shown: Shown | undefined;
}

export const emptyLane: LaneState = { lastSeq: -1, shown: { prompt: null, keys: [] } };

/**
 * What has to happen to a lane so that it shows a view, or goes on showing the `same`: an append, which may have no
 * messages, or a replace. An append fails where the lane no longer ends at `lastSeq`.
 */
export function planLane(
  contextRef: string,
  { lastSeq, shown: before }: LaneState,
  view: LaneView | 'same',
  { keys }: Shown,
): LaneChange {
  if (view === 'same') return { contextRef, lastSeq, append: [] };
  const { prompt, messages } = view;
  if (before && before.prompt === prompt && before.keys.every((key, i) => keys[i] === key))
    return { contextRef, lastSeq, append: messages.slice(before.keys.length) };
  // a prompt that the history never set may be the thread's own
  const systemPrompt = prompt === null && before?.prompt == null ? undefined : prompt;
  return { contextRef, lastSeq, replace: { systemPrompt, messages } };
}

/** Whether a history shows the same as before, wherever its lane is by now. */
export const isShown = (before: Shown | undefined, { prompt, keys }: Shown): boolean =>
  before !== undefined &&
  before.prompt === prompt &&
  before.keys.length === keys.length &&
  keys.every((key, i) => before.keys[i] === key);

const changes = ({ replace, append }: LaneChange): boolean => replace !== undefined || append!.length > 0;

/** Where the lane ends after an append whose first entry got `seq`. */
export const laneEnd = (change: LaneChange | undefined, lastSeq: number, seq: number): number =>
  change && changes(change) ? seq + laneOffset(change) : lastSeq;

/** The end of the lane, relative to the entry: messages follow it, a replace is right before it. */
const laneOffset = ({ replace, append }: LaneChange): number => (replace ? -1 : append!.length);

/** The field `lane` of an entry: where its lane ends, as a `seq`, or as a text relative to the entry. */
export const laneField = (change: LaneChange | undefined, lastSeq: number): string | number =>
  change && changes(change) ? String(laneOffset(change)) : lastSeq;

export const readLaneField = (field: unknown, seq: number): number =>
  typeof field === 'string' ? seq + Number(field) : typeof field === 'number' ? field : -1;
