import type { Difference } from './compare.ts';

/** A failed comparison. */
export interface Mismatch extends Difference {
  thread: string;
  /**
   * Which comparison failed: a model call, `lane_context` after the replay, a stored `context_hash`, or the end of a
   * run.
   */
  at: 'model_call' | 'lane_context' | 'context_hash' | 'run';
}

/** Counts all mismatches and keeps the first few. */
export class Mismatches {
  count = 0;
  readonly first: Mismatch[] = [];

  constructor(readonly keep = 20) {}

  add(mismatch: Mismatch): void {
    this.count += 1;
    if (this.first.length < this.keep) this.first.push(mismatch);
  }
}

/** Two lines that show both texts from shortly before they differ. */
export function diffLines({ expected, received }: Difference, width = 80): string[] {
  let same = 0;
  while (same < expected.length && expected[same] === received[same]) same++;
  const from = Math.max(0, same - 20);
  const cut = (text: string) =>
    (from > 0 ? '…' : '') + JSON.stringify(text.slice(from, from + width)) + (text.length > from + width ? '…' : '');
  return [`- ${cut(expected)}`, `+ ${cut(received)}`];
}
