import type { Database } from '../../../database/postgres/pool.ts';
import { everyThread } from '../../../database/store/each-thread.ts';
import type { RunRef } from '../../../database/store/run/run.ts';
import { tenantIs } from '../../../database/store/tenant/tenant-settings.ts';
import type { OpenSlot } from './slots.ts';

/** The runs of the newest slots before one that have not ended, the newest first: none of them starts before it is cancelled. */
export async function unendedBefore(
  db: Database,
  { tenant_id, name, slot }: OpenSlot,
  most: number,
): Promise<RunRef[]> {
  const fired = await db.query<{ threadId: string; ids: string[] }>(
    'fired_slots',
    `select f.thread_id as "threadId", array_agg(f.run_id) as ids from (
       select thread_id, run_id from lanefold._schedule_slot
       where tenant_id = $1 and name = $2 and slot < $3 and status = 'fired' order by slot desc limit $4) f group by 1`,
    [tenant_id, name, slot, most],
  );
  // a slot whose earlier runs are not all known is tried again
  return everyThread(fired, ({ threadId, ids }) =>
    db.query<RunRef & Record<string, unknown>>(
      'unended_runs',
      `select thread_id as "threadId", id from lanefold._run where thread_id = $1 and id = any ($2) and finished_at is null
       order by created_at desc, id desc`,
      [threadId, ids],
    ),
  );
}

/** The run of a tenant's request, if the thread has it. */
export async function findRequested(
  db: Database,
  tenant: string,
  threadId: string,
  requestId: string,
): Promise<RunRef | undefined> {
  const text = `select thread_id as "threadId", id from lanefold._run where thread_id = $1 and request_id = $2 and ${tenantIs(db, '$3')}`;
  return (await db.query<RunRef & Record<string, unknown>>('requested_run', text, [threadId, requestId, tenant]))[0];
}
