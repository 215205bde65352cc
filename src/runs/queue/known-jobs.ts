import type { RunJob } from './job.ts';
import type { BullQueue } from './queue.ts';

const page = 500;
const states = ['waiting', 'active', 'delayed', 'prioritized', 'completed', 'failed'] as const;

/** Yields the jobs of a queue, page by page, in whatever state they are. The queue must be at rest. */
export async function* knownJobs(queue: BullQueue): AsyncGenerator<RunJob[]> {
  for (let from = 0; ; from += page) {
    const jobs = await queue.getJobs([...states], from, from + page - 1, true);
    const found = jobs.flatMap((job) => (job ? [job.data as RunJob] : []));
    if (found.length > 0) yield found;
    if (jobs.length === 0) return;
  }
}
