import type { Database } from '../../../database/postgres/pool.ts';
import type { StoredSchedule } from '../definition/stored.ts';
import { cursorText, microsSql, readCursor, timestampSql, type ListPage } from '../../../database/store/page.ts';

export type SlotStatus = 'due' | 'firing' | 'fired' | 'skipped' | 'missed' | 'failed';

/** A slot that has come, and what became of it. */
export interface SlotRow {
  slot: Date;
  dueAt: Date;
  status: SlotStatus;
  settledAt: Date | null;
  threadId: string | null;
  runId: string | null;
  error: { code: string; message: string } | null;
}

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
  const [row] = await db.query<{ passed: PassedSlots | null }>(
    'advance_schedule',
    'select a.passed from lanefold.advance_schedule($1, $2, $3, $4, $5, $6) as a (passed)',
    [tenantId, name, version, nextAt, next ?? null, JSON.stringify(slots)],
  );
  return row!.passed;
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
  const text = 'select o.slot from lanefold.open_slots($1, $2, $3, $4, $5) as o (slot)';
  const values = [JSON.stringify(agents), limit, againMs, after ?? null, waiting];
  return (await db.query<{ slot: OpenSlot }>('open_slots', text, values)).map(({ slot }) => slot);
};

/** What taking a slot came to, without a run to start: it was skipped, or it waits, and `passed` others were skipped. */
export type UntakenSlot = { skipped: true } | { waits: true; passed: number };

/** Takes a slot; see `take_slot`. Null: another worker has it. */
export async function takeSlot(
  db: Database,
  { tenant_id, name, slot }: OpenSlot,
  { agents, active, againMs }: { agents: readonly string[]; active: boolean; againMs: number },
): Promise<TakenSlot | UntakenSlot | null> {
  const [row] = await db.query<{ taken: TakenSlot | UntakenSlot | null }>(
    'take_slot',
    'select t.taken from lanefold.take_slot($1, $2, $3, $4, $5, $6) as t (taken)',
    [tenant_id, name, slot, JSON.stringify(agents), active, againMs],
  );
  return row!.taken;
}

export async function settleSlot(
  db: Database,
  { tenant_id, name, slot }: OpenSlot,
  { taken_at }: TakenSlot,
  outcome: { status: 'fired'; thread_id: string; run_id: string } | { status: 'failed'; error: SlotRow['error'] },
): Promise<void> {
  await db.query('settle_slot', 'select from lanefold.settle_slot($1, $2, $3, $4, $5)', [
    ...[tenant_id, name, slot, taken_at, outcome],
  ]);
}

/** The slots of a schedule, newest first. @param after `nextAfter` of the page before */
export async function readSlots(
  db: Database,
  tenant: string,
  name: string,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<ListPage<SlotRow>> {
  const [before = null] = readCursor(after, 0) ?? [];
  const rows = await db.query<SlotRow & { micros: string } & Record<string, unknown>>(
    'schedule_slots',
    `select slot, due_at as "dueAt", status, settled_at as "settledAt", thread_id as "threadId", run_id as "runId", error,
       ${microsSql('slot')} as micros
     from lanefold._schedule_slot where tenant_id = $1 and name = $2 and ($3::text is null or slot < ${timestampSql('$3')})
     order by slot desc limit $4`,
    [tenant, name, before, limit + 1],
  );
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const data = shown.map(({ micros: _, ...slot }) => slot);
  return { data, nextAfter: rows.length > limit && last ? cursorText([last.micros]) : null };
}

/** Deletes settled slots older than this; see `drop_slots`. Returns how many. */
export async function dropSlots(db: Database, days: number, most: number): Promise<number> {
  const text = 'select d.dropped from lanefold.drop_slots($1, $2) as d (dropped)';
  return (await db.query<{ dropped: number }>('drop_slots', text, [days, most]))[0]!.dropped;
}
