import type { Fleet, Slot } from '../fleet.ts';
import type { PlannedFault } from '../schedule.ts';
import type { ChaosPostgres } from '../services/postgres.ts';
import type { RedisServer } from '../services/redis.ts';
import type { RunKey, Observer } from '../observer.ts';

/** The system that faults are injected into. */
export interface Rig {
  fleet: Fleet;
  postgres: ChaosPostgres;
  /** Undefined when the queue is in PostgreSQL. */
  redis: RedisServer | undefined;
  observer: Observer;
  leaseMs: number;
}

export interface InjectedFault {
  /** Active runs of the target, read as the fault takes effect. */
  hit: RunKey[];
  /** Resolves when the fault is over. */
  over: Promise<void>;
}

/** A fault of one worker that holds runs. */
export type WorkerFault = (rig: Rig, slot: Slot, plan: PlannedFault) => Promise<InjectedFault>;

/** A fault of a service that all workers share. */
export type ServiceFault = (rig: Rig, plan: PlannedFault) => Promise<InjectedFault>;
