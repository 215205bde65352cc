import { call } from '../../../database/store/call.ts';
import { snakeKeys } from '../../../base/common/case.ts';
import { pageOf } from '../../../base/common/page.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import type { schedule } from '../../../../db/schema/schedule.ts';
import type { StoredSchedule } from '../definition/stored.ts';
import { readIds, readRows, type ListPage } from '../../../database/store/rows.ts';

/** A schedule with its state and history. */
export interface ScheduleRow
  extends
    StoredSchedule,
    Pick<
      typeof schedule.$inferSelect,
      'tenantId' | 'name' | 'version' | 'nextAt' | 'pausedAt' | 'createdAt' | 'updatedAt' | 'updatedBy'
    > {
  source: 'code' | 'user';
}

/** Sets a schedule; see `set_schedule`. Returns its version. @param nextAt its next slot, if its timing is new */
export async function setSchedule(
  db: Database,
  tenant: string,
  name: string,
  schedule: StoredSchedule,
  { nextAt, source, by }: { nextAt: Date | undefined; source: 'code' | 'user'; by: string },
): Promise<number> {
  const given = { ...snakeKeys(schedule), next_at: nextAt?.toISOString() ?? null, source, by };
  const { version } = (await call(db.query, 'set_schedule', { tenant, name, p: given })) as { version: number };
  return version;
}

/** Returns false if there is none, or none with that source. */
export async function removeSchedule(
  db: Database,
  tenant: string,
  name: string,
  { by, source }: { by: string; source?: 'code' },
): Promise<boolean> {
  return await call(db.query, 'remove_schedule', { tenant, name, by, source: source ?? null });
}

/** Pauses it, or lets it continue with the slot `nextAt`. Returns false if it was changed since it had this version. */
export async function pauseSchedule(
  db: Database,
  tenant: string,
  name: string,
  { version, paused, nextAt, by }: { version: number; paused: boolean; nextAt?: Date | undefined; by: string },
): Promise<boolean> {
  const args = { tenant, name, version, paused, nextAt: nextAt ?? null, by };
  return (await call(db.query, 'pause_schedule', args)) !== null;
}

const columns = `tenant_id, name, version::float8, next_at, paused_at, agent, overlap, thread_id, timing, definition, source, created_at,
  updated_at, updated_by`;

/** By tenant and name. */
export const readSchedules = (db: Database): Promise<ScheduleRow[]> =>
  readRows<ScheduleRow>(db, 'schedules', `select ${columns} from lanefold._schedule order by tenant_id, name`);

/** A page of them. @param after `nextAfter` of the page before */
export async function listSchedules(
  db: Database,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<ListPage<ScheduleRow>> {
  const [tenant = null, name = null] = readIds(after, 2) ?? [];
  const rows = await readRows<ScheduleRow>(
    db,
    'list_schedules',
    `select ${columns} from lanefold._schedule
     where $1::text is null or (tenant_id, name) > ($1, $2) order by tenant_id, name limit $3`,
    [tenant, name, limit + 1],
  );
  return pageOf(rows, limit, ({ tenantId, name }) => `${tenantId}/${name}`);
}

export const readSchedule = async (db: Database, tenant: string, name: string): Promise<ScheduleRow | undefined> =>
  (
    await readRows<ScheduleRow>(
      db,
      'schedule',
      `select ${columns} from lanefold._schedule where tenant_id = $1 and name = $2`,
      [tenant, name],
    )
  )[0];

/**
 * Schedules of these agents whose next slot has come, the most overdue first.
 *
 * @param after the last one of the page before
 */
export const findDueSchedules = (
  db: Database,
  agents: readonly string[],
  limit: number,
  after?: Pick<ScheduleRow, 'nextAt' | 'tenantId' | 'name'>,
): Promise<(ScheduleRow & { now: Date })[]> =>
  readRows<ScheduleRow & { now: Date }>(
    db,
    'due_schedules',
    `select ${columns}, c.now from lanefold._schedule, (select lanefold._now() as now) c
     where next_at <= c.now and $5::jsonb ? agent
       and ($2::timestamptz is null or (next_at, tenant_id, name) > ($2, $3, $4))
     order by next_at, tenant_id, name limit $1`,
    [limit, after?.nextAt ?? null, after?.tenantId ?? null, after?.name ?? null, JSON.stringify(agents)],
  );

/** What is to be done, by the clock of the database. */
export interface NextSlot {
  /** In ms since 1970. */
  atMs: number;
  /** Whether something is to be done now. */
  now: boolean;
  /** In how many ms the next slot comes, is due, or is to be taken again; null if none will. */
  nextMs: number | null;
}

/** When something is to be done for these agents. @param againMs after which a slot that was taken is taken again */
export async function untilNextSlot(db: Database, agents: readonly string[], againMs: number): Promise<NextSlot> {
  const [row] = await readRows<NextSlot>(
    db,
    'next_slot',
    `select (extract(epoch from c.now) * 1000)::float8 as at_ms, coalesce(bool_or(s.at <= c.now), false) as now,
       extract(epoch from min(s.at) filter (where s.at > c.now) - c.now)::float8 * 1000 as next_ms
     from (select lanefold._now() as now) c left join lateral (
       (select next_at as at from lanefold._schedule where next_at <= c.now and $1::jsonb ? agent order by next_at limit 1)
       union all
       (select next_at from lanefold._schedule where next_at > c.now and $1::jsonb ? agent order by next_at limit 1)
       union all
       select case k.status when 'due' then k.due_at else k.taken_at + $2::float8 * interval '1 ms' end
       from lanefold._schedule_slot k left join lanefold._schedule a on a.tenant_id = k.tenant_id and a.name = k.name
       where k.status = 'firing' or k.status = 'due' and a.paused_at is null and $1::jsonb ? a.agent) s on true
     group by c.now`,
    [JSON.stringify(agents), againMs],
  );
  return row!;
}

/** Erases the schedules of a tenant and their slots; see `erase_schedules`. */
export const eraseSchedules = (db: Database, tenant: string): Promise<unknown> =>
  call(db.queryLong, 'erase_schedules', { tenant });
