import type { OverrideCaller } from '../../../agent/definition/overridable.ts';
import type { JsonObject } from '../../../agent/context/message.ts';
import type { Admission } from '../../limiter/admission.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { briefly, dispatch, dispatchOnceCommitted, shardOf } from '../../queue/dispatch.ts';
import type { RunQueue } from '../../queue/queue.ts';
import { enqueueRun } from '../../../database/store/run/enqueue-run.ts';
import type { QueuedRun } from '../../../database/store/run/queued-run.ts';
import type { RunOptions } from '../../../agent/definition/run-options.ts';
import type { RunHandle } from '../../../database/store/run/run.ts';
import type { Transaction } from '../../../database/store/transaction/transaction.ts';
import { parentOf } from '../../telemetry/telemetry.ts';
import { startDirectly, type DirectWorker } from './direct-start.ts';
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';

export interface RequestDeps {
  db: Database;
  queue: RunQueue;
  /** W3C `traceparent` of the active span. */
  activeTraceparent?: (() => string | undefined) | undefined;
  /** The workers of this process that may take a run at once. */
  directWorkers?: Iterable<DirectWorker>;
  /** Without it, runs ask for their slots only once a worker has claimed them. */
  admission?: Admission;
}

/** A request that has been checked. */
export interface CheckedRequest {
  threadId: string;
  body: JsonObject;
  id: string;
  requestId: string;
  hash: string;
  busy?: 'reject' | 'wait' | 'interrupt' | undefined;
  createThread: boolean;
  traceparent?: string | undefined;
}

export interface EnqueueContext {
  tx?: Transaction | undefined;
  caller?: string | undefined;
  /** Checks what the request overrides, for such a caller. Undefined: it was checked. */
  from?: OverrideCaller | undefined;
}

/** Stores a request, and gives its run to the queue. */
export async function enqueueRequest(
  deps: RequestDeps,
  request: CheckedRequest,
  by: EnqueueContext = {},
): Promise<RunHandle> {
  const { run, job } = await storeRequest(deps, request, by);
  if (job && by.tx) void dispatchOnceCommitted(deps.db, deps.queue, job);
  else if (job) await briefly(dispatch(deps.db, deps.queue, job));
  return run;
}

/**
 * Stores a request. A worker of this process with a free place takes the run in the same statement. Returns the `job` to
 * add to the queue, unless the transaction or that worker added it already.
 */
export async function storeRequest(
  deps: RequestDeps,
  { threadId, body, id, requestId, hash, busy, createThread, traceparent: given }: CheckedRequest,
  { tx, caller }: EnqueueContext = {},
): Promise<{ run: RunHandle; job?: QueuedRun }> {
  const { db, queue, activeTraceparent, admission } = deps;
  const newRun = { threadId, runId: id, agent: body['agent'] as string };
  const { priority, limit_keys: limitKeys = {}, version, selection } = body['options'] as RunOptions;
  const delayMs = body['delay_ms'] as number | undefined;
  const limited = {
    ...newRun,
    ...{ model: body['model'] as string, caller: caller ?? null, limitKeys },
    ...{ version, strategy: selection?.strategy ?? (body['strategy'] as string) },
  };
  // it is not known when the caller's transaction commits, or which runs have slots after a delay
  const { slots, full } =
    tx || delayMs ? noSlots : await (admission?.expect({ ...limited, tenant: db.tenant }) ?? noSlots);
  const jobInDatabase = queue.backend === 'postgres' && !db.settings.distributed;
  const shard = shardOf(threadId, queue.queues.length);
  const traceparent = parentOf(given, activeTraceparent?.());
  const request = {
    ...body,
    ...(traceparent === undefined ? {} : { traceparent }),
    run_id: id,
    request_id: requestId,
    ...(caller === undefined ? {} : { caller }),
    request_hash: hash,
    busy: busy ?? 'reject',
    create_thread: createThread,
    queue_prefix: queue.prefix,
    queue_shard: shard,
    // If the queue is in the same database, this transaction adds the job; otherwise the run's row is its outbox.
    ...(jobInDatabase ? { job_queue: queue.queues[shard]!.name } : {}),
    ...(jobInDatabase && slots ? { job_later: true } : {}),
  };
  const usesQueue = tx || priority || delayMs || full || (queue.backend === 'postgres' && !jobInDatabase);
  const send = (claim?: JsonObject) => enqueueRun(db, threadId, claim ? { ...request, claim } : request, tx);
  const accepting = usesQueue ? send() : startDirectly(deps.directWorkers ?? [], { ...newRun, shard }, send);
  const { run_id, status, duplicate, enqueue_no, claim, tenant_id: tenant, ended } = await accepting;
  const run = { id: run_id, threadId, requestId, status, duplicate };
  // before the run asks for a slot: that one may hold it. Of a transaction, the sweep knows whether it was committed.
  if (!tx && ended !== undefined) await admission?.release(db, { threadId, runId: ended });
  if (status !== 'queued' || duplicate || claim || (jobInDatabase && !slots)) return { run };
  const job = {
    ...{ thread_id: threadId, run_id, agent: newRun.agent, enqueue_no, queue_shard: shard },
    ...(priority === undefined ? {} : { priority }),
    ...(delayMs === undefined ? {} : { delay_ms: delayMs }),
  };
  return { run, job: slots && tenant !== undefined ? await admission!.admit(db, { ...limited, tenant }, job) : job };
}

const noSlots = { slots: false, full: false };

/** Hex SHA-256 of the canonical JSON: tells whether two requests with one key are the same request. */
export const requestHash = (body: unknown): string =>
  createHash('sha256')
    .update(canonicalize(JSON.parse(JSON.stringify(body))) as string)
    .digest('hex');
