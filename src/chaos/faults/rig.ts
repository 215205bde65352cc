import type { Fleet, Slot } from '../fleet.ts';
import type { PlannedFault } from '../schedule.ts';
import type { ChaosPostgres } from '../services/postgres.ts';
import type { ChaosRedis } from '../services/redis.ts';
import type { RunKey, Watch } from '../watch.ts';

/** What faults are done to. */
export interface Rig {
  fleet: Fleet;
  postgres: ChaosPostgres;
  /** Undefined where the queue is in PostgreSQL. */
  redis: ChaosRedis | undefined;
  watch: Watch;
  leaseMs: number;
}

/** A fault that was done. */
export interface Injected {
  /** Runs that were active where it struck, seen after the blow. */
  hit: RunKey[];
  /** Resolves when what lasts of it is over. */
  over: Promise<void>;
}

/** A fault to one worker that holds runs. */
export type WorkerFault = (rig: Rig, slot: Slot, plan: PlannedFault) => Promise<Injected>;

/** A fault to a service that all share; one at a time. */
export type ServiceFault = (rig: Rig, plan: PlannedFault) => Promise<Injected>;
