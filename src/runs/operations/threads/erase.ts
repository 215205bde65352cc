import { assertId } from '../../../base/checks/ids.ts';
import { isLanefoldError } from '../../../base/errors.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { toTopic } from '../../queue/relay.ts';
import type { RunQueue } from '../../queue/queue.ts';
import {
  dropUnread,
  eraseTenantStreams,
  eraseThread,
  findThreadsOf,
  type Erased,
} from '../../../database/store/log/erase-thread.ts';
import { eraseKeptEvents } from '../../../database/store/wait/events.ts';
import { findChildThreads, findUnerased } from '../../../database/store/wait/child-threads.ts';
import { addRemoved, left, leftChildren, leftForks, leftOfTenant } from './erasure-report.ts';
import type { ErasureReport, RemovedRows, TenantErasureReport } from './types.ts';

/** What keeps data of threads or tenants beside the log, and erases its own. */
export interface Keeper {
  /** On a distributed database, what the erasure of a thread does not reach there. */
  eraseThread?(db: Database, threadId: string): Promise<unknown>;
  /** Before the threads of the tenant are erased: what would start further runs in them goes first. */
  eraseTenant?(db: Database, tenantId: string): Promise<unknown>;
}

/** Where threads are erased. */
export interface Erasing {
  db: Database;
  queue: RunQueue | undefined;
  keepers: readonly Keeper[];
}

/** Erases a thread, and its jobs in the queue. See `Threads.erase`. */
export async function erase(on: Erasing, threadId: string): Promise<ErasureReport> {
  assertId(threadId, 'The thread id');
  // the links to them go with the thread
  const { db } = on;
  const below = await findChildThreads(db, threadId);
  const { erased, removed } = await eraseOne(on, threadId);
  const named = [...new Set([...below, ...erased.child_threads])];
  // the thread is gone, so the report has to be given: with too many threads rather than none
  const childThreads = await findUnerased(db, named).catch(() => named);
  const ofThread = childThreads.length > 0 ? [leftForks, leftChildren(childThreads)] : [leftForks];
  return { threadId, tenantId: erased.tenant_id, removed, childThreads, left: [...ofThread, ...left] };
}

/** Erases what starts runs of a tenant or waits for it, and its threads, up to `limit` of them. See `Threads.eraseTenant`. */
export async function eraseTenant(
  on: Erasing,
  tenantId: string,
  { limit = 1_000 }: { limit?: number } = {},
): Promise<TenantErasureReport> {
  const { db, keepers } = on;
  assertId(tenantId, 'The tenant id');
  for (const keeper of keepers) await keeper.eraseTenant?.(db, tenantId);
  await eraseKeptEvents(db, tenantId);
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
      // threads that its runs started have the same tenant, and their own turn
      const { removed: own } = await eraseOne(on, threadId);
      removed = addRemoved(removed, own);
    } catch (error) {
      if (isLanefoldError(error, 'thread_busy')) busy.push(threadId);
      else if (!isLanefoldError(error, 'thread_erased')) throw error;
    }
  }
  await eraseTenantStreams(db, tenantId);
  return { tenantId, removed, busy, more: found.length > limit, left: [...left, ...leftOfTenant] };
}

/** Erases a thread without a look at the threads of agents that its runs called. */
async function eraseOne(
  { db, queue, keepers }: Erasing,
  threadId: string,
): Promise<{ erased: Erased; removed: RemovedRows }> {
  const erased = await eraseThread(db, threadId);
  if (db.settings.distributed) for (const keeper of keepers) await keeper.eraseThread?.(db, threadId);
  return { erased, removed: { ...removedOf(erased), jobs: await dropJobs(db, queue, threadId, erased) } };
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
  threads: 1,
  entries,
  events,
  runs,
  toolCalls,
  inputs,
  operations,
  contents,
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
