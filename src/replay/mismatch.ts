import type { Difference } from './compare.ts';

/** One comparison that failed. */
export interface Mismatch extends Difference {
  thread: string;
  /** Where it was seen: at a model call, in `lane_context` afterwards, in a stored `context_hash`, or how a run ended. */
  at: 'model_call' | 'lane_context' | 'context_hash' | 'run';
}

/** Collects mismatches: all are counted, the first ones kept. */
export class Mismatches {
  count = 0;
  readonly first: Mismatch[] = [];

  constructor(readonly keep = 20) {}

  add(mismatch: Mismatch): void {
    this.count += 1;
    if (this.first.length < this.keep) this.first.push(mismatch);
  }
}

/** Two lines with both texts from a little before where they part. */
export function diffLines({ expected, received }: Difference, width = 80): string[] {
  let same = 0;
  while (same < expected.length && expected[same] === received[same]) same++;
  const from = Math.max(0, same - 20);
  const cut = (text: string) =>
    (from > 0 ? '…' : '') + JSON.stringify(text.slice(from, from + width)) + (text.length > from + width ? '…' : '');
  return [`- ${cut(expected)}`, `+ ${cut(received)}`];
}
