import { get } from '../api/client.ts';
import type { Worker } from '../api/types.ts';
import { useLoaded } from './use-loaded.ts';

export const noneAlive = 'No worker is alive to take runs.';

/** The workers that are alive, and those that stopped or died lately; undefined for a key that may not see them. */
export const useWorkers = (): Worker[] | undefined =>
  useLoaded<{ data: Worker[] }>((signal) => get('/v1/workers', {}, signal), [], { everyMs: 5_000 }).data?.data;
