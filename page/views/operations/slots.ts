import type { Activity } from '../../api/types.ts';

type Slot = Activity['slots'][number];

/** Adds the slots without runs that the API leaves out, so that a plot shows idle times. */
export function withGaps(slots: Slot[], since: string, hours: number): Slot[] {
  const width = hours * 36_000;
  const known = new Map(slots.map((slot) => [Math.round(Date.parse(slot.at) / width), slot]));
  const all: Slot[] = [];
  for (let n = Math.ceil(Date.parse(since) / width); n <= Date.now() / width; n++) {
    const empty = {
      runs: 0,
      failed: 0,
      input_tokens: 0,
      output_tokens: 0,
      cached_tokens: 0,
      cost: 0,
      unpriced_tokens: 0,
    };
    all.push(known.get(n) ?? { at: new Date(n * width).toISOString(), ...empty });
  }
  return all;
}
