import type { JsonObject } from '../context/message.ts';
import type { PlacedMessage } from './groups.ts';

/**
 * A range of entries left out of a request, as `refs.dropped` stores it: first and last `seq`, inclusive. For an anchor
 * dropped in part: its `seq` twice, then its first and last dropped message, from 0.
 */
export type DroppedRange = [from: number, to: number] | [anchor: number, anchor: number, first: number, last: number];

/** Whether the refs of an answer say what was left out in the form that readers of refs trust. */
export const hasDroppedRanges = ({ dropped = [], dropped_positions: positions = [] }: JsonObject): boolean =>
  areRanges(dropped, [2, 4]) && areRanges(positions, [2]);

const areRanges = (value: unknown, lengths: readonly number[]): boolean =>
  Array.isArray(value) &&
  value.every(
    (range: unknown) =>
      Array.isArray(range) && lengths.includes(range.length) && range.every((end) => Number.isSafeInteger(end)),
  );

type Place = Pick<PlacedMessage, 'seq' | 'index'>;

/** The cut in force when an answer was given, by its refs. It stays in force while the policy and its limits do not change. */
export const loggedDropped = (refs: JsonObject | null, policyHash: string): readonly DroppedRange[] =>
  refs?.['policy_hash'] === policyHash && Array.isArray(refs?.['dropped'])
    ? (refs['dropped'] as unknown as DroppedRange[])
    : [];

/** Whether a message is in one of the ranges. */
export const isDropped = (ranges: readonly DroppedRange[], { seq, index }: Place): boolean =>
  ranges.some(([from, to, first = 0, last = Infinity]) => seq >= from && seq <= to && index >= first && index <= last);

/**
 * The ranges of the messages that are false in `kept`. Messages that are undefined there neither belong to a range nor
 * break one.
 */
export function droppedRanges(messages: readonly Place[], kept: readonly (boolean | undefined)[]): DroppedRange[] {
  const ranges: DroppedRange[] = [];
  let run: Place[] = [];
  const close = () => {
    ranges.push(...rangesOf(run, messages));
    run = [];
  };
  for (const [i, message] of messages.entries()) {
    if (kept[i] === true) close();
    else if (kept[i] === false) run.push(message);
  }
  close();
  return ranges;
}

function rangesOf(run: readonly Place[], messages: readonly Place[]): DroppedRange[] {
  const first = run[0];
  if (!first) return [];
  const ofFirst = run.filter(({ seq }) => seq === first.seq);
  const whole = ofFirst.length === messages.filter(({ seq }) => seq === first.seq).length;
  if (whole) return [[first.seq, run.at(-1)!.seq]];
  const [next, last] = [run[ofFirst.length], run.at(-1)!];
  return [
    [first.seq, first.seq, first.index, ofFirst.at(-1)!.index],
    ...(next ? [[next.seq, last.seq] as DroppedRange] : []),
  ];
}
