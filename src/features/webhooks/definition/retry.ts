const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Pauses between the attempts of a delivery: eleven attempts in about a day. */
const pausesMs = [
  ...[5 * second, 30 * second, 2 * minute, 10 * minute, 30 * minute],
  ...[hour, 2 * hour, 4 * hour, 8 * hour, 8 * hour],
];

/** Spreads attempts that failed together, as a part of the pause. */
const spread = 0.2;

/**
 * In how many ms attempt `nth + 1` comes, ±20 %; undefined after the last one.
 *
 * @param random from 0 to 1
 */
export function retryMs(nth: number, random: number): number | undefined {
  const pause = pausesMs[nth - 1];
  return pause === undefined ? undefined : Math.round(pause * (1 - spread + 2 * spread * random));
}
