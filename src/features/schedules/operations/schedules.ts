import { LanefoldError } from '../../../base/errors.ts';
import type { OverrideCaller } from '../../../agent/definition/overridable.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { checkDefinition } from '../definition/check-definition.ts';
import { fromStored, toStored } from '../definition/stored.ts';
import { nextSlot, nextSlots } from '../definition/timing.ts';
import {
  pauseSchedule,
  readSchedule,
  listSchedules,
  removeSchedule,
  setSchedule,
  type ScheduleRow,
} from '../store/schedules.ts';
import { readSlots } from '../store/slots.ts';
import { readNow } from '../../../database/store/database-clock.ts';
import { ownersOn, type Owner } from '../../../runs/operations/access/tenant-scope.ts';
import type { ListedSchedule, ScheduleDefinition, Schedules } from '../types.ts';
import { assertName } from './check-schedule.ts';

const shownSlots = 5;

/**
 * @param scopeTo the same connections for a tenant
 * @param check throws if its runs could not be requested
 */
export function schedulesOf(
  db: Database,
  scopeTo: (tenant: string) => Database,
  check: (db: Database, schedule: ScheduleDefinition, from: OverrideCaller) => Promise<void>,
): Schedules {
  const own = ownersOn(db, scopeTo);
  const find = async (name: string, owner: Owner): Promise<ScheduleRow> => {
    assertName(name);
    const { tenant, on } = own(owner);
    const row = await readSchedule(on, tenant, name);
    if (!row) throw notFound(name, tenant);
    return row;
  };
  const listed = async (name: string, owner: Owner) => toListed(await find(name, owner), await readNow(db));
  const setPaused = async (name: string, owner: Owner, paused: boolean): Promise<ListedSchedule> => {
    const row = await find(name, owner);
    const { tenant, by, on } = own(owner);
    const nextAt = paused ? undefined : nextSlot(fromStored(row), await readNow(db));
    const change = { version: row.version, paused, nextAt, by };
    const done = await pauseSchedule(on, tenant, name, change);
    // changed meanwhile: its next slot may be another one
    return done ? listed(name, owner) : setPaused(name, owner, paused);
  };
  return {
    async set(name, definition, owner = {}) {
      assertName(name);
      const { tenant, by, on } = own(owner);
      const now = await readNow(db);
      checkDefinition(definition, now);
      await check(on, definition, owner.from ?? 'library');
      const change = { nextAt: nextSlot(definition, now), source: 'user', by } as const;
      await setSchedule(on, tenant, name, toStored(definition), change);
      return listed(name, { tenant });
    },
    async remove(name, owner = {}) {
      assertName(name);
      const { tenant, by, on } = own(owner);
      if (!(await removeSchedule(on, tenant, name, { by }))) throw notFound(name, tenant);
    },
    pause: (name, owner = {}) => setPaused(name, owner, true),
    resume: (name, owner = {}) => setPaused(name, owner, false),
    get: (name, owner = {}) => listed(name, owner),
    async list({ after, limit = 50 } = {}) {
      const [{ data, nextAfter }, now] = [await listSchedules(db, { after, limit }), await readNow(db)];
      return { data: data.map((row) => toListed(row, now)), nextAfter };
    },
    async slots(name, { after, limit = 50, ...owner } = {}) {
      assertName(name);
      const { tenant, on } = own(owner);
      const slots = await readSlots(on, tenant, name, { after, limit });
      if (slots.data.length === 0) await find(name, owner);
      return slots;
    },
  };
}

function toListed(row: ScheduleRow, now: Date): ListedSchedule {
  const { tenantId, name, version, nextAt, pausedAt, source, createdAt, updatedAt, updatedBy } = row;
  const schedule = fromStored(row);
  const from = nextAt && nextAt > now ? new Date(nextAt.getTime() - 1) : now;
  return {
    ...schedule,
    name,
    tenant: tenantId,
    pausedAt,
    source,
    version,
    createdAt,
    updatedAt,
    updatedBy,
    next: nextAt ? shownOf(schedule, from) : [],
  };
}

/** None if a program that reads other times has set it: one schedule must not hide all. */
function shownOf(schedule: ScheduleDefinition, from: Date): Date[] {
  try {
    return nextSlots(schedule, from, shownSlots);
  } catch {
    return [];
  }
}

const notFound = (name: string, tenant: string): LanefoldError =>
  new LanefoldError('schedule_not_found', `Schedule ${name} of tenant ${tenant} does not exist.`, {
    hint: 'List the schedules with `lanefold schedules`.',
  });
