import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import type { QueueAdapterOptions } from '@bull-board/api/typings/app';
import type { Library } from '../../library/library.ts';
import type { RunJob, RunJobResult } from '../../queue/job.ts';
import type { Run } from '../../store/run/run.ts';
import type { RunEvent } from '../../store/trace/read-events.ts';
import { runLines } from './run-lines.ts';

type Job = NonNullable<Awaited<ReturnType<BullMQAdapter['getJob']>>>;

interface ShownJob {
  data: RunJob;
  progress?: unknown;
  returnvalue?: (Partial<RunJobResult> & { answer?: string }) | null;
  failedReason?: string;
}

/** Enough for a quick look. */
const maxAnswerChars = 2_000;
/** Events that one request for log lines reads at most; few traces are as long. */
const maxEvents = 10_000;

/**
 * Shows with a job what the database has of its run: progress, log lines, answer or error. Workers write none of it to the
 * queue, where each write costs as much as a commit and outlives the erasure of its thread.
 */
export class RunsAdapter extends BullMQAdapter {
  readonly #lanefold: Library;

  constructor(lanefold: Library, queue: Library['queues'][number], options: Partial<QueueAdapterOptions>) {
    super(queue as never, options);
    this.#lanefold = lanefold;
  }

  override async getJob(id: string): Promise<Job | undefined> {
    const job = await super.getJob(id);
    if (job) await this.#complete(job as unknown as ShownJob);
    return job;
  }

  override async getJobs(...which: Parameters<BullMQAdapter['getJobs']>): Promise<Job[]> {
    const jobs = await super.getJobs(...which);
    await Promise.all(jobs.map((job) => this.#complete(job as unknown as ShownJob)));
    return jobs;
  }

  /** The lines of the whole run, of which the job may be a part. */
  override async getJobLogs(id: string): Promise<string[]> {
    const job = (await super.getJob(id)) as unknown as ShownJob | undefined;
    if (!job) return [];
    const { thread_id: threadId, run_id: runId } = job.data;
    const events: RunEvent[] = [];
    for (let page: RunEvent[] | undefined; !page || (page.length === 1_000 && events.length < maxEvents);) {
      const after = events.at(-1)?.eventSeq;
      page = await this.#lanefold.runs
        .events({ threadId, id: runId }, { limit: 1_000, ...(after === undefined ? {} : { after }) })
        // the thread may have been erased
        .catch(() => []);
      events.push(...page);
    }
    const rest = events.length >= maxEvents ? ['… the rest is in the trace of the run'] : [];
    return [...runLines(events), ...rest];
  }

  async #complete(job: ShownJob): Promise<void> {
    const { thread_id: threadId, run_id: id } = job.data;
    const run = await this.#lanefold.runs.get({ threadId, id }).catch(() => undefined);
    const { returnvalue: result } = job;
    if (run) job.progress = progressOf(run, result);
    if (job.failedReason && run?.error) job.failedReason = `${run.error.type}: ${run.error.message}`;
    if (result && 'iterations' in result && run && run.result !== null)
      job.returnvalue = { ...result, answer: clip(this.#lanefold.redact(run.result)) };
  }
}

/** How far the run is, or was when the job ended. */
function progressOf(run: Run, result: ShownJob['returnvalue']): object {
  const { iteration, status, usage, waitingFor } = run;
  if (result?.iterations !== undefined)
    return { iteration: result.iterations, tokens: result.tokens ?? 0, status: result.status };
  return { iteration, tokens: usage?.total_tokens ?? 0, status, ...(waitingFor ? { waiting_for: waitingFor } : {}) };
}

function clip(answer: unknown): string {
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
  return text.length <= maxAnswerChars ? text : `${text.slice(0, maxAnswerChars).toWellFormed()} …`;
}
