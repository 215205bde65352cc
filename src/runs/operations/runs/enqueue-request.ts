import type { OverrideCaller } from '../../../agent/definition/overridable.ts';
import type { JsonObject } from '../../../agent/context/message.ts';
import { snakeKeys } from '../../../base/common/case.ts';
import { omitUndefined } from '../../../base/common/json.ts';
import type { Admission, NewLimitedRun, Slots } from '../../limiter/admission.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { briefly, dispatch, dispatchOnceCommitted, shardOf } from '../../queue/relay.ts';
import type { RunQueue } from '../../queue/queue.ts';
import { enqueueRun, type EnqueuedRun } from '../../../database/store/run/enqueue-run.ts';
import type { QueuedRun } from '../../../database/store/run/queued-run.ts';
import type { RunOptions } from '../../../agent/definition/run-options.ts';
import type { RunHandle } from '../../../database/store/run/run.ts';
import type { Transaction } from '../../../database/store/transaction/within-transaction.ts';
import { parentOf } from '../../telemetry/telemetry.ts';
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { isLanefoldError } from '../../../base/errors.ts';
import { isTransient } from '../../../database/postgres/errors.ts';
import type { Claim, Refusal } from '../../../database/store/run/claim-run.ts';

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
  /** Accepts it in place of `enqueue_run`, for a run that comes with something else. */
  accept?: ((row: JsonObject) => Promise<EnqueuedRun>) | undefined;
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

/** How a run gets from the request to a worker. */
type Way =
  /** A worker of this process with a free place takes it in the statement that accepts it; else as `afterCommit`. */
  | 'direct'
  /** The transaction of the caller accepts it. Its job follows once that has committed. */
  | 'inTransaction'
  /** Its job is added as soon as it is accepted. */
  | 'afterCommit'
  /** Other runs wait for a slot that it needs: it lines up behind them, and its job waits with it. */
  | 'inLine';

function wayOf(deps: RequestDeps, { priority, delayMs }: Timing, { tx }: EnqueueContext, slots: Slots): Way {
  if (tx) return 'inTransaction';
  if (slots === 'taken') return 'inLine';
  // the order in the queue decides, or the queue is not where the row is
  if (priority || delayMs || (deps.queue.backend === 'postgres' && !isWithRow(deps))) return 'afterCommit';
  return 'direct';
}

/**
 * Stores a request. Returns the `job` to add to the queue, unless the transaction added it already, or a worker of this
 * process has taken the run.
 */
export async function storeRequest(
  deps: RequestDeps,
  request: CheckedRequest,
  by: EnqueueContext = {},
): Promise<{ run: RunHandle; job?: QueuedRun }> {
  const { db, admission } = deps;
  const { threadId, id, requestId } = request;
  const shard = shardOf(threadId, deps.queue.queues.length);
  const timing = timingOf(request);
  const limited = toLimitedRun(request, by);
  // it is not known when the caller's transaction commits, or which runs have slots after a delay
  const unknown = by.tx !== undefined || timing.delayMs !== undefined;
  const slots = unknown ? 'none' : await (admission?.expect({ ...limited, tenant: db.tenant }) ?? 'none');
  // a queue in the same database gets the job in the same transaction, unless the run takes slots before
  const jobStored = isWithRow(deps) && slots === 'none';
  const row = { ...toRow(deps, request, by, shard), ...(isWithRow(deps) && !jobStored ? { job_later: true } : {}) };
  const accept = request.accept ?? ((given: JsonObject) => enqueueRun(db, threadId, given, by.tx));
  const send = (claim?: JsonObject) => accept(claim ? { ...row, claim } : row);
  const newRun = { threadId, runId: id, agent: limited.agent, shard };
  const way = wayOf(deps, timing, by, slots);
  const accepted = await (way === 'direct' ? startDirectly(deps.directWorkers ?? [], newRun, send) : send());
  const { run_id: runId, status, duplicate, enqueue_no: no, claim, tenant_id: tenant, ended } = accepted;
  const run = { id: runId, threadId, requestId, status, duplicate };
  // before the run asks for a slot: that one may hold it. Of a transaction, the sweep knows whether it was committed.
  if (way !== 'inTransaction' && ended !== undefined) await admission?.release(db, { threadId, runId: ended });
  if (status !== 'queued' || duplicate || claim || jobStored) return { run };
  const job = {
    thread_id: threadId,
    run_id: runId,
    agent: limited.agent,
    enqueue_no: no,
    queue_shard: shard,
    ...snakeKeys(omitUndefined(timing)),
  };
  const takesSlots = slots !== 'none' && tenant !== undefined;
  return { run, job: takesSlots ? await admission!.admit(db, { ...limited, tenant }, job) : job };
}

/** Whether the queue is where the run's row is. Otherwise the row is the outbox of the queue. */
const isWithRow = ({ db, queue }: RequestDeps): boolean => queue.backend === 'postgres' && !db.settings.distributed;

/** When the run is taken from the queue. */
interface Timing {
  priority: number | undefined;
  delayMs: number | undefined;
}

const timingOf = ({ body }: CheckedRequest): Timing => ({
  priority: (body['options'] as RunOptions).priority,
  delayMs: body['delay_ms'] as number | undefined,
});

function toLimitedRun({ threadId, id, body }: CheckedRequest, { caller }: EnqueueContext): NewLimitedRun {
  const { limit_keys: limitKeys = {}, version, selection } = body['options'] as RunOptions;
  return {
    threadId,
    runId: id,
    agent: body['agent'] as string,
    model: body['model'] as string,
    caller: caller ?? null,
    limitKeys,
    version,
    strategy: selection?.strategy ?? (body['strategy'] as string),
  };
}

/** The request as `enqueue_run` takes it. */
function toRow(deps: RequestDeps, request: CheckedRequest, { caller }: EnqueueContext, shard: number): JsonObject {
  const { queue, activeTraceparent } = deps;
  const traceparent = parentOf(request.traceparent, activeTraceparent?.());
  return {
    ...request.body,
    ...(traceparent === undefined ? {} : { traceparent }),
    run_id: request.id,
    request_id: request.requestId,
    ...(caller === undefined ? {} : { caller }),
    request_hash: request.hash,
    busy: request.busy ?? 'reject',
    create_thread: request.createThread,
    queue_prefix: queue.prefix,
    queue_shard: shard,
    ...(isWithRow(deps) ? { job_queue: queue.queues[shard]!.name } : {}),
  };
}

/** Hex SHA-256 of the canonical JSON: tells whether two requests with one key are the same request. */
export const requestHash = (body: unknown): string =>
  createHash('sha256')
    .update(canonicalize(JSON.parse(JSON.stringify(body))) as string)
    .digest('hex');

/** A run that is about to be accepted. */
export interface NewRun {
  threadId: string;
  runId: string;
  agent: string;
  shard: number;
}

/** A place for a run in a worker. Call one of its methods, once. */
export interface Place {
  /** What `enqueue_run` needs for the claim. */
  claim: JsonObject;
  /** The run was accepted, and its claim answered. */
  fill(answer: Claim | Refusal): void;
  /** The run was not claimed: it was rejected, is a duplicate, or takes its way through the queue. */
  leave(): void;
}

/** A worker in this process, which can take a run in the statement that accepts it. */
export interface DirectWorker {
  /** Undefined: the run takes its way through the queue. */
  reserve(run: NewRun): Promise<Place | undefined>;
}

/** Sends a request with the claim of the first worker that has a place for its run, if any has. */
async function startDirectly(
  workers: Iterable<DirectWorker>,
  run: NewRun,
  send: (claim?: JsonObject) => Promise<EnqueuedRun>,
): Promise<EnqueuedRun> {
  const place = await findPlace(workers, run);
  if (!place) return send();
  let accepted: EnqueuedRun;
  try {
    accepted = await send(place.claim);
  } catch (error) {
    place.leave();
    // if the claim caused it, the run is accepted as any other, and ends with that error
    if (isLanefoldError(error, 'database_error') && !isTransient(error)) return send();
    throw error;
  }
  if (accepted.claim) place.fill(accepted.claim);
  else place.leave();
  return accepted;
}

async function findPlace(workers: Iterable<DirectWorker>, run: NewRun): Promise<Place | undefined> {
  for (const worker of workers) {
    const place = await worker.reserve(run);
    if (place) return place;
  }
  return undefined;
}
