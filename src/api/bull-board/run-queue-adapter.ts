import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import type { RunJobResult } from '../../queue/job.ts';

type Job = NonNullable<Awaited<ReturnType<BullMQAdapter['getJob']>>>;

/** Also shows the log and progress of a short run, which are stored in its job's result. */
export class RunQueueAdapter extends BullMQAdapter {
  override async getJob(id: string): Promise<Job | undefined> {
    const job = await super.getJob(id);
    return job ? unpacked(job) : undefined;
  }

  override async getJobs(...which: Parameters<BullMQAdapter['getJobs']>): Promise<Job[]> {
    return (await super.getJobs(...which)).map(unpacked);
  }

  override async getJobLogs(id: string): Promise<string[]> {
    const written = await super.getJobLogs(id);
    if (written.length > 0) return written;
    return resultOf(await super.getJob(id))?.shown?.log ?? [];
  }
}

function unpacked(job: Job): Job {
  const { shown, ...rest } = resultOf(job) ?? {};
  if (!shown) return job;
  return Object.assign(job, { progress: shown.progress, returnvalue: rest });
}

const resultOf = (job: unknown): Partial<RunJobResult> | undefined =>
  (job as { returnvalue?: Partial<RunJobResult> | null } | undefined)?.returnvalue ?? undefined;
