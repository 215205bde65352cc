import type { Database } from '../../../database/postgres/pool.ts';
import type { ScheduleDefinition, ScheduleRunOptions } from '../types.ts';
import type { SlotOutcome } from '../../../runs/telemetry/telemetry.ts';
import type { RunHandle, RunRef } from '../../../database/store/run/run.ts';

/** The request of a slot. */
export interface ScheduledRequest extends ScheduleRunOptions, Pick<ScheduleDefinition, 'agent' | 'input'> {
  requestId: string;
  threadId: string;
  createThread: true;
  busy: 'wait';
}

/** How the runs of schedules are requested. */
export interface ScheduledRequests {
  enqueue(tenant: string, request: ScheduledRequest): Promise<RunHandle>;
  /** Cancels a run for the one of a later slot. */
  interrupt(tenant: string, run: RunRef): Promise<unknown>;
}

export interface FireDependencies {
  db: Database;
  /** The agents of this process: it starts the runs of these. */
  agents: readonly string[];
  requests: ScheduledRequests;
  onError: (error: unknown) => void;
  onSettled: (outcome: SlotOutcome) => void;
  /** Whether the worker is stopping. */
  stopping: () => boolean;
}
