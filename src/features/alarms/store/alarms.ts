import { fromWire, toWire } from '../../../base/operations/wire.ts';
import { call, callRows } from '../../../database/store/call.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { readRows } from '../../../database/store/rows.ts';
import type { RunRef } from '../../../database/store/run/run.ts';
import { AlarmFilter } from '../declaration.ts';
import type { AlarmCount, AlarmDefinition, ListedAlarm } from '../types.ts';

const columns = `name, tenant_id as tenant, filter, more_than::float8, share, within_ms::float8, clear_after_ms::float8, raised_at,
  runs::float8, all_runs::float8, counted_at, paused_at, created_at, updated_at, updated_by`;

const readFilter = (stored: unknown) => fromWire(AlarmFilter, stored) as AlarmDefinition['filter'];

const listed = (row: ListedAlarm): ListedAlarm => ({ ...row, filter: readFilter(row.filter) });

/** All alarms that the caller may see, by tenant and name. */
export const readAlarms = async (db: Database): Promise<ListedAlarm[]> =>
  (await readRows<ListedAlarm>(db, 'alarms', `select ${columns} from lanefold._alarm order by tenant_id, name`)).map(
    listed,
  );

export async function readAlarm(db: Database, tenant: string, name: string): Promise<ListedAlarm | undefined> {
  const text = `select ${columns} from lanefold._alarm where tenant_id = $1 and name = $2`;
  return (await readRows<ListedAlarm>(db, 'alarm', text, [tenant, name])).map(listed)[0];
}

/** See `set_alarm`. */
export async function setAlarm(
  db: Database,
  tenant: string,
  name: string,
  {
    filter,
    moreThan,
    share,
    withinMs,
    clearAfterMs,
  }: Pick<ListedAlarm, 'filter' | 'moreThan' | 'share' | 'withinMs' | 'clearAfterMs'>,
  by: string,
): Promise<void> {
  const rule = { more_than: moreThan, share, within_ms: withinMs, clear_after_ms: clearAfterMs };
  await call(db.query, 'set_alarm', { tenant, name, p: { filter: toWire(AlarmFilter, filter), ...rule, by } });
}

/** Returns false if there is none. */
export const removeAlarm = (db: Database, tenant: string, name: string, by: string): Promise<boolean> =>
  call(db.query, 'remove_alarm', { tenant, name, by });

/** Pauses it, or lets it continue. Returns false if there is none. */
export const pauseAlarm = (
  db: Database,
  tenant: string,
  name: string,
  { paused, by }: { paused: boolean; by: string },
): Promise<boolean> => call(db.query, 'pause_alarm', { tenant, name, paused, by });

export const eraseAlarms = (db: Database, tenant: string): Promise<unknown> =>
  call(db.queryLong, 'erase_alarms', { tenant });

/** The oldest first. */
export const readCounts = (db: Database, tenant: string, name: string, since: Date): Promise<AlarmCount[]> =>
  readRows<AlarmCount>(
    db,
    'alarm_counts',
    `select at, runs::float8, all_runs::float8, raised from lanefold._alarm_count
     where tenant_id = $1 and alarm = $2 and at >= $3 order by at`,
    [tenant, name, since],
  );

/** An alarm that the caller has taken. */
export interface TakenAlarm {
  tenant: string;
  name: string;
  /** Text, because it has microseconds. */
  takenAt: string;
  filter: AlarmDefinition['filter'];
  share: number | null;
  /** The runs accepted since then count. */
  from: Date;
}

interface TakenRow {
  tenant_id: string;
  name: string;
  taken_at: string;
  filter: object;
  share: number | null;
  from: string;
}

/** Takes alarms that are due and that no other worker has; see `take_alarms`. */
export async function takeAlarms(db: Database, holdMs: number, limit: number): Promise<TakenAlarm[]> {
  const rows = await callRows(db.query, 'take_alarms', { holdMs, limit });
  return rows.map(({ result }) => {
    const { tenant_id: tenant, name, taken_at: takenAt, filter, share, from } = result as TakenRow;
    return { tenant, name, takenAt, filter: readFilter(filter), share, from: new Date(from) };
  });
}

/** What a worker has counted. */
export interface Counted {
  runs: number;
  allRuns: number | null;
  newest: readonly RunRef[];
}

/** Stores a count; see `settle_alarm`. Returns false if the alarm is no longer the caller's. */
export const settleAlarm = (
  db: Database,
  { tenant, name, takenAt }: TakenAlarm,
  { runs, allRuns, newest }: Counted,
  holdMs: number,
): Promise<boolean> =>
  call(db.query, 'settle_alarm', {
    tenant,
    name,
    takenAt,
    p: { runs, all_runs: allRuns, newest: newest.map(({ threadId, id }) => ({ thread_id: threadId, run_id: id })) },
    holdMs,
  });

export const dropCounts = (db: Database, days: number, limit: number): Promise<number> =>
  call(db.queryLong, 'drop_alarm_counts', { days, limit });
