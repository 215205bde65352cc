import { call, callRows } from '../../../database/store/call.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import type { StoredSchedule } from '../definition/stored.ts';
import {
  fromRow,
  microsSql,
  pageByTime,
  readCursor,
  readRows,
  timestampSql,
  type ListPage,
} from '../../../database/store/rows.ts';
import type { ScheduleSlot } from '../types.ts';
import { everyThread } from '../../../database/store/each-thread.ts';
import type { RunRef } from '../../../database/store/run/run.ts';
import { tenantIs } from '../../../database/store/tenant/tenant-settings.ts';

/** A slot that is due. */
export interface OpenSlot {
  tenant_id: string;
  name: string;
  /** ISO 8601, as `due_at`. */
  slot: string;
  due_at: string;
  /** The run of the slot before it. */
  before?: { thread_id: string; run_id: string };
}

/** A slot whose run the caller starts. */
export interface TakenSlot {
  request: StoredSchedule & {
    /** The slot before it, in ISO 8601. */
    previous?: string;
    /** It cancels the runs of earlier slots that have not ended. */
    interrupts?: true;
  };
  taken_at: string;
}

export interface NewSlot {
  slot: Date;
  due_at: Date;
  late: boolean;
  status: 'due' | 'missed';
}

/** How many slots have passed without a run. */
export type PassedSlots = Record<'missed' | 'skipped', number>;

/** Moves a schedule on; see `advance_schedule`. Null: another worker has done it. */
export async function advanceSchedule(
  db: Database,
  { tenantId, name, version, nextAt }: { tenantId: string; name: string; version: number; nextAt: Date | null },
  next: Date | undefined,
  slots: readonly NewSlot[],
): Promise<PassedSlots | null> {
  return (await call(db.query, 'advance_schedule', {
    tenant: tenantId,
    name,
    version,
    from: nextAt,
    next: next ?? null,
    slots: JSON.stringify(slots),
  })) as PassedSlots | null;
}

/**
 * The oldest open slot of each schedule; see `open_slots`.
 *
 * @param waiting those that wait for an earlier run, else the others
 * @param after the last one of the page before
 */
export const openSlots = async (
  db: Database,
  agents: readonly string[],
  limit: number,
  againMs: number,
  { waiting, after }: { waiting: boolean; after?: OpenSlot | undefined },
): Promise<OpenSlot[]> => {
  return (
    await callRows(db.query, 'open_slots', {
      agents: JSON.stringify(agents),
      limit,
      againMs,
      after: after ?? null,
      waiting,
    })
  ).map(({ result }) => result as OpenSlot);
};

/** What taking a slot came to, without a run to start: it was skipped, or it waits, and `passed` others were skipped. */
export type UntakenSlot = { skipped: true } | { waits: true; passed: number };

/** Takes a slot; see `take_slot`. Null: another worker has it. */
export async function takeSlot(
  db: Database,
  { tenant_id, name, slot }: OpenSlot,
  { agents, active, againMs }: { agents: readonly string[]; active: boolean; againMs: number },
): Promise<TakenSlot | UntakenSlot | null> {
  const taken = (await call(db.query, 'take_slot', {
    tenant: tenant_id,
    name,
    slot,
    agents: JSON.stringify(agents),
    active,
    againMs,
  })) as (Omit<TakenSlot, 'request'> & { request: object }) | UntakenSlot | null;
  return taken && 'request' in taken ? { ...taken, request: fromRow(taken.request) } : taken;
}

export async function settleSlot(
  db: Database,
  { tenant_id, name, slot }: OpenSlot,
  { taken_at }: TakenSlot,
  outcome: { status: 'fired'; thread_id: string; run_id: string } | { status: 'failed'; error: ScheduleSlot['error'] },
): Promise<void> {
  await call(db.query, 'settle_slot', { tenant: tenant_id, name, slot, takenAt: taken_at, p: outcome });
}

/** The slots of a schedule, newest first. @param after `nextAfter` of the page before */
export async function readSlots(
  db: Database,
  tenant: string,
  name: string,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<ListPage<ScheduleSlot>> {
  const [before = null] = readCursor(after, 0) ?? [];
  const rows = await readRows<ScheduleSlot & { micros: string }>(
    db,
    'schedule_slots',
    `select slot, due_at, status, settled_at, thread_id, run_id, error,
       ${microsSql('slot')} as micros
     from lanefold._schedule_slot where tenant_id = $1 and name = $2 and ($3::text is null or slot < ${timestampSql('$3')})
     order by slot desc limit $4`,
    [tenant, name, before, limit + 1],
  );
  return pageByTime(rows, limit, () => []);
}

/** Deletes settled slots older than this; see `drop_slots`. Returns how many. */
export async function dropSlots(db: Database, days: number, most: number): Promise<number> {
  return await call(db.query, 'drop_slots', { days, most });
}

/** The runs of the newest slots before one that have not ended, the newest first: none of them starts before it is cancelled. */
export async function unendedBefore(
  db: Database,
  { tenant_id, name, slot }: OpenSlot,
  most: number,
): Promise<RunRef[]> {
  const fired = await readRows<{ threadId: string; ids: string[] }>(
    db,
    'fired_slots',
    `select f.thread_id, array_agg(f.run_id) as ids from (
       select thread_id, run_id from lanefold._schedule_slot
       where tenant_id = $1 and name = $2 and slot < $3 and status = 'fired' order by slot desc limit $4) f group by 1`,
    [tenant_id, name, slot, most],
  );
  // a slot whose earlier runs are not all known is tried again
  return everyThread(fired, ({ threadId, ids }) =>
    readRows<RunRef>(
      db,
      'unended_runs',
      `select thread_id, id from lanefold._run where thread_id = $1 and id = any ($2) and finished_at is null
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
  const text = `select thread_id, id from lanefold._run where thread_id = $1 and request_id = $2 and ${tenantIs(db, '$3')}`;
  return (await readRows<RunRef>(db, 'requested_run', text, [threadId, requestId, tenant]))[0];
}
