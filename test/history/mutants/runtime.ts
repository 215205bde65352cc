import { afterCrash } from '../../../src/worker/run/after-crash.ts';
import type { Claim, Refusal } from '../../../src/database/store/run/claim-run.ts';

/** The steps of the runtime that a mutant may break. */
export interface Runtime {
  afterCrash: typeof afterCrash;
  /** What a worker takes from its claim. */
  take(claim: Claim | Refusal): Claim | Refusal;
}

export const runtime: Runtime = { afterCrash, take: (claim) => claim };
