import type { RunEvent } from '../../database/store/trace/types.ts';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import type { QueueAdapterOptions } from '@bull-board/api/typings/app';
import type { Library } from '../../features/library/library.ts';
import type { RunJob, RunJobResult } from '../../runs/queue/queue.ts';
import type { Run } from '../../database/store/run/run.ts';
import { oneLine } from '../../base/log/logger.ts';

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
  const { iteration, status, usage, limitedBy } = run;
  if (result?.iterations !== undefined)
    return { iteration: result.iterations, tokens: result.tokens ?? 0, status: result.status };
  return { iteration, tokens: usage?.total_tokens ?? 0, status, ...(limitedBy ? { limited_by: limitedBy } : {}) };
}

function clip(answer: unknown): string {
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
  return text.length <= maxAnswerChars ? text : `${text.slice(0, maxAnswerChars).toWellFormed()} …`;
}

/** The log lines of a run, made from its trace. Most kinds of events have none. */
function runLines(events: readonly RunEvent[]): string[] {
  const begin = events[0]?.at.getTime() ?? 0;
  return events.flatMap((event) => {
    const what = describe(event);
    return what === undefined
      ? []
      : [`+${((event.at.getTime() - begin) / 1000).toFixed(2)} s  [${event.iteration}] ${what}`];
  });
}

function describe({ kind, data }: RunEvent): string | undefined {
  const text = (...path: string[]) => at(data, path);
  switch (kind) {
    case 'request_started':
      return 'started';
    case 'llm_completed':
      return `model ${text('turn_type') === 'tool_calls' ? 'asks for tools' : 'answers'} (${text('usage', 'input_tokens')} + ${text('usage', 'output_tokens')} tokens)`;
    case 'llm_retry':
      return `model call failed (${text('error', 'type')}), retrying`;
    case 'llm_lost':
      return 'model call lost with its worker, repeating it';
    case 'tool_completed':
      return `${text('tool_name')}: ${text('status')} in ${text('duration_ms')} ms${Number(data['attempts']) > 1 ? `, ${text('attempts')} attempts` : ''}`;
    case 'approval_requested':
      return `waits for approval of ${text('tool_name')}`;
    case 'approval_decided':
      return `${text('tool_name')} ${text('decision')}`;
    case 'handed_over':
      return `handed over from ${text('from')} to ${text('to')}`;
    case 'worker_lost':
    case 'run_delayed':
    case 'limit_reached':
    case 'database_restored':
    case 'compaction_failed':
      return kind.replaceAll('_', ' ');
    case 'request_completed':
    case 'request_cancelled':
      return kind.slice('request_'.length) + (data['usage'] ? `, ${text('usage', 'total_tokens')} tokens` : '');
    case 'request_failed':
      return `failed: ${text('error', 'type')}`;
    default:
      return undefined;
  }
}

/** The text or number at a path, on one line, because models invent names of tools; `?` if there is none. */
function at(data: unknown, path: readonly string[]): string {
  const value = path.reduce<unknown>((from, key) => (from as Record<string, unknown> | undefined)?.[key], data);
  return typeof value === 'string' || typeof value === 'number' ? oneLine(String(value)) : '?';
}
