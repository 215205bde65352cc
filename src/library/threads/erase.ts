import { assertId } from '../../checks/ids.ts';
import type { Database } from '../../postgres/pool.ts';
import { toTopic } from '../../queue/relay.ts';
import type { RunQueue } from '../../queue/queue.ts';
import { dropUnread, eraseThread, type Erased } from '../../store/log/erase-thread.ts';
import { eraseCases } from '../../store/eval/cases.ts';
import { findChildThreads, findUnerased } from '../../store/wait/child-threads.ts';
import { left, leftChildren, leftForks, type ErasureReport } from './erasure-report.ts';
import type { RemovedRows } from './removed.ts';

/** Erases a thread, and its jobs in the queue. See `Threads.erase`. */
export async function erase(db: Database, queue: RunQueue | undefined, threadId: string): Promise<ErasureReport> {
  assertId(threadId, 'The thread id');
  // the links to them go with the thread
  const below = await findChildThreads(db, threadId);
  const { erased, removed } = await eraseOne(db, queue, threadId);
  const named = [...new Set([...below, ...erased.child_threads])];
  // the thread is gone, so the report has to be given: with too many threads rather than none
  const childThreads = await findUnerased(db, named).catch(() => named);
  const ofThread = childThreads.length > 0 ? [leftForks, leftChildren(childThreads)] : [leftForks];
  return { threadId, tenantId: erased.tenant_id, removed, childThreads, left: [...ofThread, ...left] };
}

/** Erases a thread without a look at the threads of agents that its runs called. */
export async function eraseOne(
  db: Database,
  queue: RunQueue | undefined,
  threadId: string,
): Promise<{ erased: Erased; removed: RemovedRows }> {
  const erased = await eraseThread(db, threadId);
  if (db.settings.distributed) await eraseCases(db, threadId);
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
