import { get } from '../api/client.ts';
import type { Worker, WorkerList } from '../api/types.ts';
import { useLoaded } from './use-loaded.ts';

export const noneAlive = 'No worker is alive to take runs.';

/** Live workers and those that recently stopped or died; undefined for a key that may not see them. */
export const useWorkers = (): Worker[] | undefined =>
  useLoaded<WorkerList>((signal) => get('/v1/workers', {}, signal), [], { everyMs: 5_000 }).data?.data;
