import { sql, type SQL } from 'drizzle-orm/sql';
import type { AgentRegistry } from '../agents/registry.ts';
import type { ContentPart, Json, JsonObject } from '../context/message.ts';
import { LanefoldError } from '../errors.ts';
import { assertId, newRunId, newThreadId, threadIdOf } from '../ids.ts';
import type { ModelRegistry } from '../models/registry/registry.ts';
import { toParts } from '../models/messages/parts.ts';
import { fromPostgres } from '../postgres/errors.ts';
import type { Database } from '../postgres/pool.ts';
import type { RunJob } from '../queue/job.ts';
import type { RunQueue } from '../queue/queue.ts';
import { shardOf } from '../queue/shard.ts';
import { assertStorable } from '../text.ts';
import { toRunOptions, type RunOverrides } from './overrides.ts';
import type { RunHandle, RunStatus } from '../store/run-row.ts';
import { hashBody } from './threads.ts';

export interface EnqueueOptions extends RunOverrides {
  agent: string;
  /** The user message. */
  input: string | ContentPart[];
  /** Default: a new thread, created with the run. */
  threadId?: string;
  /** Create the given thread if it does not exist; default false. */
  createThread?: boolean;
  /** The lane; default: the thread's active one. */
  contextRef?: string;
  /**
   * The same id again on the thread returns the same run. Where no thread is named, the id is that of the thread too: make
   * it one that nobody else uses. Default: the run's own id.
   */
  requestId?: string;
  /**
   * On a thread with an active run: `reject` (default), `wait` in line, or `interrupt`, which cancels that run, ends
   * earlier interrupts that have not begun, and goes before whatever waits.
   */
  busy?: 'reject' | 'wait' | 'interrupt';
  /** Overrides the agent's model for this run. */
  model?: string;
  /** Merged over the agent's `toolContext`. */
  toolContext?: JsonObject;
  /** `keep` (default): a failed run stays in the context, closed. `restore`: the lane goes back to before the run. */
  onFailure?: 'keep' | 'restore';
  /** Kept in the `refs` of the user message. */
  extraRefs?: JsonObject;
}

/** As the library itself enqueues. */
export interface OwnEnqueueOptions extends EnqueueOptions {
  /** The run whose checkpoint this one goes on from. */
  resumedFrom?: string;
}

/** The caller's own transaction: a `pg` client in one, or what Drizzle hands to `db.transaction`. */
export type Transaction =
  | { query(text: string, values: unknown[]): Promise<{ rows: unknown[] }> }
  | { execute(query: SQL): Promise<{ rows: unknown[] }> };

export interface EnqueueDeps {
  db: Database;
  queue: RunQueue;
  agents: AgentRegistry;
  models: ModelRegistry;
}

interface Accepted {
  run_id: string;
  status: RunStatus;
  enqueue_no: number;
  queue_shard: number;
  duplicate: boolean;
}

/** The request as it is stored and hashed; everything a caller can get wrong is refused here, before any write. */
async function toBody(
  agents: AgentRegistry,
  options: OwnEnqueueOptions,
  model: string,
  strategy: string,
): Promise<JsonObject> {
  const { input, contextRef } = options;
  if (options.threadId !== undefined) assertId(options.threadId, 'The thread id');
  if (options.requestId !== undefined) assertId(options.requestId, 'The request id');
  if (contextRef !== undefined) assertId(contextRef, 'The context_ref');
  if (typeof input !== 'string' && !Array.isArray(input)) {
    throw new LanefoldError('invalid_input', 'The input is neither a string nor a list of content parts.', {
      hint: 'Pass input: "…".',
    });
  }
  if (typeof input === 'string' ? input.trim() === '' : input.length === 0) {
    throw new LanefoldError('invalid_input', 'The input is empty.', { hint: 'Ask something.' });
  }
  // In the log a part no model takes would fail this run and every later one of the lane.
  if (typeof input !== 'string') toParts(input);
  const overrides = await toRunOptions(agents, options.agent, options);
  const { toolContext, extraRefs } = options;
  assertStorable({ input, model, toolContext, extraRefs, overrides }, 'The request');
  return {
    agent: options.agent,
    strategy,
    model,
    ...(contextRef === undefined ? {} : { context_ref: contextRef }),
    input: { content: input as Json, ...(options.extraRefs ? { refs: options.extraRefs } : {}) },
    options: {
      ...(overrides as unknown as JsonObject),
      ...(options.toolContext ? { tool_context: options.toolContext } : {}),
      ...(options.onFailure === 'restore' ? { on_failure: 'restore' } : {}),
      ...(options.resumedFrom === undefined ? {} : { resumed_from: options.resumedFrom }),
    },
  };
}

/** The request without what only the agent's definition says: a retry after a deployment is the same request. */
const asAsked = (body: JsonObject, { model, strategy, idleTimeoutMs }: OwnEnqueueOptions): JsonObject => {
  const { prompt: _, ...options } = body['options'] as JsonObject;
  const asked = { model, strategy, options: { ...options, idle_timeout_ms: idleTimeoutMs } };
  return { ...body, ...(asked as JsonObject) };
};

/** Accepts a run and gives it to the queue. See `Runs.enqueue`. */
export async function enqueueRun(deps: EnqueueDeps, options: OwnEnqueueOptions, tx?: Transaction): Promise<RunHandle> {
  const { db, queue, agents, models } = deps;
  const agent = agents.get(options.agent);
  const model = options.model ?? agent.model;
  models.check(model);
  const id = newRunId();
  const body = await toBody(agents, options, model, options.strategy ?? agent.strategy);
  const { threadId = options.requestId === undefined ? newThreadId() : threadIdOf(options.requestId) } = options;
  const requestId = options.requestId ?? id;
  const shard = shardOf(threadId, queue.queues.length);
  const request = {
    ...body,
    thread_id: threadId,
    run_id: id,
    request_id: requestId,
    request_hash: hashBody(asAsked(body, options)),
    busy: options.busy ?? 'reject',
    create_thread: options.threadId === undefined || options.createThread === true,
    queue_prefix: queue.prefix,
    queue_shard: shard,
    // In the same database the job is part of the transaction; elsewhere the run's row is its outbox.
    job_queue: queue.backend === 'postgres' ? queue.queues[shard]!.name : undefined,
  };
  const accepted = tx ? await acceptWithin(tx, request) : await accept(db, request);
  if (accepted.status === 'queued' && !accepted.duplicate && queue.backend !== 'postgres') {
    const job = { thread_id: threadId, run_id: accepted.run_id, enqueue_no: accepted.enqueue_no, agent: agent.name };
    if (tx) void addOnceCommitted(deps, job, shard);
    // A job that cannot be added now is added by the next sweep of any worker.
    else await queue.add(job, shard).catch(() => {});
  }
  return { id: accepted.run_id, threadId, requestId, status: accepted.status, duplicate: accepted.duplicate };
}

async function accept(db: Database, request: { thread_id: string }): Promise<Accepted> {
  const [row] = await db.query<{ run: Accepted }>('enqueue_run', 'select lanefold.enqueue_run($1, $2) as run', [
    request.thread_id,
    request,
  ]);
  return row!.run;
}

async function acceptWithin(tx: Transaction, request: { thread_id: string }): Promise<Accepted> {
  const text = JSON.stringify(request);
  try {
    const { rows } =
      'execute' in tx
        ? await tx.execute(sql`select lanefold.enqueue_run(${request.thread_id}, ${text}::jsonb) as run`)
        : await tx.query('select lanefold.enqueue_run($1, $2::jsonb) as run', [request.thread_id, text]);
    return (rows[0] as { run: Accepted }).run;
  } catch (error) {
    throw fromPostgres(error);
  }
}

const firstLookMs = 10;
const lastLookMs = 5_000;

/**
 * Adds the job when the caller's transaction has committed, which nobody tells us: the run is looked for, ever more
 * seldom, and then left to the sweep. A run rolled back is never found.
 */
async function addOnceCommitted({ db, queue }: EnqueueDeps, job: RunJob, shard: number): Promise<void> {
  for (let pauseMs = firstLookMs; pauseMs < lastLookMs; pauseMs *= 2) {
    await new Promise((resolve) => setTimeout(resolve, pauseMs).unref());
    try {
      const [run] = await db.query(
        'find_run',
        "select 1 from lanefold._run where thread_id = $1 and id = $2 and status = 'queued' and enqueue_no = $3",
        [job.thread_id, job.run_id, job.enqueue_no],
      );
      if (run) return await queue.add(job, shard);
    } catch {
      return;
    }
  }
}
