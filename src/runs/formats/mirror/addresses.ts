import { unreadable } from '../../../database/store/history/read-payloads.ts';
import type { LaneChange } from '../../../database/store/log/append-history.ts';
import type { LaneView, Shown } from './lane-view.ts';

/** Where a text is: a part of an entry. `seq` -1: of the entry being written. */
export interface Address {
  seq: number;
  index: number;
}

/** Some parts of an entry, the first and the last one included. */
export interface AddressRange {
  seq: number;
  first: number;
  last: number;
}

/**
 * How many texts the values of a checkpoint, or the writes of a task, may consist of. A few characters name many texts, so
 * readers count before they read.
 */
export const maxTexts = 100_000;

/** Addresses as an entry stores them: `0-2 17.1` are the parts 0 to 2 of the entry itself, then part 1 of entry 17. */
export function writeAddresses(addresses: readonly Address[]): string {
  const ranges: AddressRange[] = [];
  for (const { seq, index } of addresses) {
    const range = ranges.at(-1);
    if (range && range.seq === seq && range.last === index - 1) range.last = index;
    else ranges.push({ seq, first: index, last: index });
  }
  return ranges
    .map(({ seq, first, last }) => `${seq < 0 ? '' : `${seq}.`}${first}${last > first ? `-${last}` : ''}`)
    .join(' ');
}

const word = /^(?:(\d{1,15})\.)?(\d{1,15})(?:-(\d{1,15}))?$/;

/** The ranges of addresses, without expanding them; undefined for a text that names none. */
export function rangesOf(text: string, own: number): AddressRange[] | undefined {
  if (text === '') return [];
  const ranges: AddressRange[] = [];
  for (const each of text.split(' ')) {
    const found = word.exec(each);
    if (!found) return undefined;
    const [, seq = own, first, last = first] = found;
    const range = { seq: Number(seq), first: Number(first), last: Number(last) };
    if (range.last < range.first) return undefined;
    ranges.push(range);
  }
  return ranges;
}

/** How many addresses there are. */
export const countOf = (ranges: readonly AddressRange[]): number =>
  ranges.reduce((sum, { first, last }) => sum + last - first + 1, 0);

/** Counts the texts of a checkpoint, or of what was written to it. @throws LanefoldError `history_unreadable` */
export class TextCount {
  #texts = 0;

  count(texts: number, seq: number): void {
    if ((this.#texts += texts) > maxTexts) throw unreadable(`The entry ${seq}, with more than ${maxTexts} texts,`);
  }
}

/** The first `most` addresses. @throws LanefoldError `history_unreadable` for more than a checkpoint may have */
export function expand(ranges: readonly AddressRange[], most = Infinity): Address[] {
  const count = Math.min(countOf(ranges), most);
  if (count > maxTexts) throw unreadable(`A value of ${count} texts`);
  const addresses: Address[] = [];
  for (const { seq, first, last } of ranges)
    for (let index = first; index <= last && addresses.length < count; index++) addresses.push({ seq, index });
  return addresses;
}

/** What a history knows of its lane: what it shows, and the `seq` where it ends; -1 for a lane without messages. */
export interface LaneState {
  lastSeq: number;
  /** Undefined: something that the history did not write. */
  shown: Shown | undefined;
}

export const emptyLane: LaneState = { lastSeq: -1, shown: { prompt: null, keys: [] } };

/**
 * What has to happen to a lane so that it shows a view, or continues showing the `same`: an append, which may have no
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
