/** Who acts. What waits for one that has crashed never happens; one that is frozen continues later. */
export interface Acting {
  /** Rises with each crash. */
  life: number;
  frozenUntil: number;
  /** How long it has computed without yielding, in ms; default: never. */
  computedMs?: number;
  /** The next random number from 0 to 1. */
  random(): number;
  /** The next id that it draws. */
  uuid(): string;
}

/** Something that will happen, unless it is called off. */
export interface Scheduled {
  cancelled: boolean;
  /** A timer of a process: by itself, it does nothing that others could see. */
  timer?: boolean;
}

/** What timers need of a clock. */
export interface Timed {
  readonly now: number;
  in(ms: number, acting: Acting, happen: () => void, life: number): Scheduled;
}
