import type { QueueAdapterOptions } from '@bull-board/api/typings/app';
import type { Library } from '../../library/library.ts';
import type { RunJob } from '../../queue/job.ts';
import { RunQueueAdapter } from './run-queue-adapter.ts';

/** Enough for a quick look. */
const maxAnswerChars = 2_000;

interface ShownJob {
  data: RunJob;
  delay?: number;
  progress?: unknown;
  returnvalue?: object | null;
  failedReason?: string;
}

/** Shows with a job what only the database has: the answer or error of its run, and the limit that delays it. */
export class RunsAdapter extends RunQueueAdapter {
  readonly #lanefold: Library;

  constructor(lanefold: Library, queue: Library['queues'][number], options: Partial<QueueAdapterOptions>) {
    super(queue as never, options);
    this.#lanefold = lanefold;
  }

  override async getJob(id: string) {
    const job = await super.getJob(id);
    if (job) await this.#complete(job as unknown as ShownJob);
    return job;
  }

  override async getJobs(...page: Parameters<RunQueueAdapter['getJobs']>) {
    const jobs = await super.getJobs(...page);
    await Promise.all(jobs.map((job) => this.#complete(job as unknown as ShownJob)));
    return jobs;
  }

  async #complete(job: ShownJob): Promise<void> {
    const ended = job.returnvalue || job.failedReason;
    if (!ended && !job.delay) return;
    const { thread_id: threadId, run_id: id } = job.data;
    // the thread may have been erased
    const run = await this.#lanefold.runs.get({ threadId, id }).catch(() => undefined);
    if (!run) return;
    if (!ended && run.waitingFor) job.progress = { waiting_for: run.waitingFor };
    if (job.failedReason && run.error) job.failedReason = `${run.error.type}: ${run.error.message}`;
    if (job.returnvalue && 'iterations' in job.returnvalue && run.result !== null)
      job.returnvalue = { ...job.returnvalue, answer: clip(this.#lanefold.redact(run.result)) };
  }
}

function clip(answer: unknown): string {
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
  return text.length <= maxAnswerChars ? text : `${text.slice(0, maxAnswerChars).toWellFormed()} …`;
}
