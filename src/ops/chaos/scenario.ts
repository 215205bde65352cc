import type { RunKey } from './observer.ts';
import type { FaultKind } from './schedule.ts';

/** One injected fault that hit at least one active run. */
export interface Scenario {
  no: number;
  kind: FaultKind;
  /** When the fault began, in milliseconds since the epoch. */
  at: number;
  hit: RunKey[];
}
