import { isLanefoldError } from '../../errors.ts';
import { assertId } from '../../checks/ids.ts';
import type { Database } from '../../postgres/pool.ts';
import { toTopic } from '../../queue/relay.ts';
import type { RunQueue } from '../../queue/queue.ts';
import {
  dropUnread,
  eraseTenantStreams,
  eraseThread,
  findThreadsOf,
  type Erased,
} from '../../store/log/erase-thread.ts';
import { eraseCases } from '../../store/eval/cases.ts';
import { eraseEvals } from '../../store/eval/threads.ts';
import { assertWhole } from '../../checks/whole-number.ts';
import { addRemoved, type RemovedRows } from './removed.ts';

export interface ErasureReport {
  threadId: string;
  tenantId: string;
  removed: RemovedRows;
  /** What Lanefold does not remove, in words: you have to remove it yourself. */
  left: string[];
}

export interface TenantErasureReport {
  tenantId: string;
  removed: RemovedRows;
  /** Threads with an active run, which were left as they are. Cancel their runs and erase again. */
  busy: string[];
  /** The tenant has more threads: erase again. */
  more: boolean;
  left: string[];
}

const left: readonly string[] = [
  'the ids of the thread and tenant and the times of creation and erasure, so that the thread id is never reused',
  'ids and statuses of runs in the event streams of the queue, until BullMQ trims them',
  'backups, replicas and write-ahead logs of PostgreSQL and Redis',
  'data that model providers and tools keep from requests',
  'logs of your processes, and copies that clients of the API made',
];

/** Erases a thread, and its jobs in the queue. See `Threads.erase`. */
export async function erase(db: Database, queue: RunQueue | undefined, threadId: string): Promise<ErasureReport> {
  assertId(threadId, 'The thread id');
  const erased = await eraseThread(db, threadId);
  if (db.settings.distributed) await eraseCases(db, threadId);
  const removed = { ...removedOf(erased), jobs: await dropJobs(db, queue, threadId, erased) };
  return { threadId, tenantId: erased.tenant_id, removed, left: [...left] };
}

/** Erases the threads of a tenant, up to `limit` of them. See `Threads.eraseTenant`. */
export async function eraseTenant(
  db: Database,
  queue: RunQueue | undefined,
  tenantId: string,
  limit = 1_000,
): Promise<TenantErasureReport> {
  assertId(tenantId, 'The tenant id');
  assertWhole(limit, 'limit', { minimum: 1, maximum: 10_000, hint: 'Erase again while `more` is true.' });
  // first, so that they start no further runs
  await eraseEvals(db, tenantId);
  const found = await findThreadsOf(db, tenantId, limit + 1);
  const busy: string[] = [];
  let removed: RemovedRows = {
    threads: 0,
    entries: 0,
    events: 0,
    runs: 0,
    toolCalls: 0,
    inputs: 0,
    operations: 0,
    contents: 0,
    jobs: 0,
  };
  for (const threadId of found.slice(0, limit)) {
    try {
      const { removed: own } = await erase(db, queue, threadId);
      removed = addRemoved(removed, own);
    } catch (error) {
      if (isLanefoldError(error, 'thread_busy')) busy.push(threadId);
      else if (!isLanefoldError(error, 'thread_erased')) throw error;
    }
  }
  await eraseTenantStreams(db, tenantId);
  return { tenantId, removed, busy, more: found.length > limit, left: [...left] };
}

const removedOf = ({
  entries,
  events,
  runs,
  tool_calls: toolCalls,
  inputs,
  operations,
  contents,
}: Erased): RemovedRows => ({
  ...{ threads: 1, entries, events, runs, toolCalls, inputs, operations, contents },
  jobs: 0,
});

/** Jobs carry only ids and expire, so a queue that does not answer does not hold up an erasure. */
async function dropJobs(
  db: Database,
  queue: RunQueue | undefined,
  threadId: string,
  { jobs }: Erased,
): Promise<number> {
  if (!queue) return 0;
  if (queue.backend === 'postgres') await dropUnread(db, toTopic(threadId)).catch(() => {});
  const own = jobs.filter((job) => job.queue_prefix === queue.prefix);
  return queue.remove(own).catch(() => 0);
}
