import { call } from '../call.ts';
import { defaultTenant } from '../../../base/checks/ids.ts';
import type { Database } from '../../postgres/pool.ts';
import type { CallRef } from '../../../base/checks/call-name.ts';

/** An open wait for an event. */
export interface EventWait {
  threadId: string;
  runId: string;
  call: CallRef;
}

/** The open waits for an event, oldest first. */
export async function findEventWaits(db: Database, event: string, limit: number): Promise<EventWait[]> {
  const rows = await db.query<{ thread_id: string; run_id: string; round: number; call_index: number }>(
    'find_event_waits',
    `select thread_id, run_id, round, call_index from lanefold._wait
     where event = $1 and tenant_id = $2 and status = 'open' order by created_at limit $3`,
    [event, db.tenant ?? defaultTenant, limit],
  );
  return rows.map((row) => ({
    threadId: row.thread_id,
    runId: row.run_id,
    call: { round: row.round, index: row.call_index },
  }));
}

/** Keeps an event for waits that begin within `keepMs`, instead of an earlier one of that name. */
export async function keepEvent(
  db: Database,
  { event, content, keepMs, by }: { event: string; content: string; keepMs: number; by?: string | undefined },
): Promise<void> {
  await call(db.queryLocking, 'keep_event', {
    tenant: db.tenant ?? defaultTenant,
    event,
    content,
    keepMs,
    by: by ?? null,
  });
}

/** Deletes events that are kept no longer; see `drop_kept_events`. Returns how many. */
export async function dropKeptEvents(db: Database, most: number): Promise<number> {
  return await call(db.query, 'drop_kept_events', { most });
}

/** The event of that name that is kept for a wait which began at this time. */
export async function readKeptEvent(
  db: Database,
  tenant: string,
  event: string,
  since: Date,
): Promise<{ content: string; sent_by: string | null } | undefined> {
  const [row] = await db.query<{ content: string; sent_by: string | null }>(
    'read_kept_event',
    `select content, sent_by from lanefold._kept_event
     where tenant_id = $1 and event = $2 and keep_until > $3`,
    [tenant, event, since],
  );
  return row;
}

/** Erases the events kept for a tenant; see `erase_kept_events`. */
export const eraseKeptEvents = (db: Database, tenant: string): Promise<unknown> =>
  call(db.queryLong, 'erase_kept_events', { tenant });
