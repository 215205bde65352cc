/** Tells the time, in ms since 1970. */
export interface Clock {
  now(): number;
}

/** The clock of this process, which may be wrong: where something is due by it, no other process may look at it. */
export const processClock: Clock = { now: () => Date.now() };
