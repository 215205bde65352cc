/** Tells the time, in whole ms since 1970. */
export interface Clock {
  now(): number;
}

/** The clock of this process, which may be wrong: what is due by it concerns no other process. */
export const processClock: Clock = { now: () => Date.now() };

/** A time by `clock` as the clock of this process will show it. */
export const asHere = (clock: Clock, timeMs: number): number => timeMs - clock.now() + Date.now();

/** A time by the clock of this process as `clock` will show it. */
export const asThere = (clock: Clock, timeMs: number): number => timeMs - Date.now() + clock.now();
