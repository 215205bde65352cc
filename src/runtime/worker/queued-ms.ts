import type { Job } from 'bullmq';

/** How long a job has waited for a worker since it was added and its delay ended, in ms. */
export const queuedMs = ({ timestamp, opts }: Pick<Job, 'timestamp' | 'opts'>, now = Date.now()): number =>
  Math.max(0, now - timestamp - (opts.delay ?? 0));
