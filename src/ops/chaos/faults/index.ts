import type { FaultKind } from '../schedule.ts';
import { pool } from './pool.ts';
import type { ServiceFault, WorkerFault } from './fault.ts';
import { failover, flush, postgres, redis } from './services.ts';
import { stop, kill, cut } from './stop.ts';

export const workerFaults: Partial<Record<FaultKind, WorkerFault>> = { kill, stop, cut, pool };
export const serviceFaults: Partial<Record<FaultKind, ServiceFault>> = { postgres, failover, redis, flush };

/** Faults that must not overlap: each removes a service that another one needs to take effect. */
export const exclusive = new Set<FaultKind>(['postgres', 'failover', 'redis', 'flush', 'pool']);
