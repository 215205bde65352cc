import { assertId } from '../../../base/checks/ids.ts';
import { assertWhole } from '../../../base/checks/whole-number.ts';
import { isLanefoldError } from '../../../base/errors.ts';
import { eraseTenantStreams, findThreadsOf } from '../../../database/store/log/erase-thread.ts';
import { eraseKeptEvents } from '../../../database/store/wait/events.ts';
import { eraseOne, type Erasing } from './erase.ts';
import { left, leftOfTenant, type TenantErasureReport } from './erasure-report.ts';
import { addRemoved, type RemovedRows } from './removed.ts';

/** Erases what starts runs of a tenant or waits for it, and its threads, up to `limit` of them. See `Threads.eraseTenant`. */
export async function eraseTenant(on: Erasing, tenantId: string, limit = 1_000): Promise<TenantErasureReport> {
  const { db, keepers } = on;
  assertId(tenantId, 'The tenant id');
  assertWhole(limit, 'limit', { minimum: 1, maximum: 10_000, hint: 'Erase again while `more` is true.' });
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
