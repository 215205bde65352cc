import { assertWhole } from '../../../base/checks/values.ts';
import { LanefoldError } from '../../../base/errors.ts';
import type { OverrideCaller } from '../../../agent/definition/overridable.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import type { ScheduleDefinition } from '../definition/definition.ts';
import { readDefinition } from '../definition/read-definition.ts';
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
import { readSlots, type SlotRow } from '../store/slots.ts';
import type { ListPage } from '../../../database/store/rows.ts';
import { readNow } from '../../../database/store/database-clock.ts';
import { ownersOn } from '../../../runs/operations/access/tenant-scope.ts';
import { assertName } from './assert-name.ts';

/** A schedule with its state. */
export interface ListedSchedule extends ScheduleDefinition {
  name: string;
  /** The tenant whose runs it starts. */
  tenant: string;
  /** The next five slots at most; empty while it is paused, and after it has ended. */
  next: Date[];
  pausedAt: Date | null;
  /** `code`: defined by a program. `user`: set through the library, HTTP, the command line or the page. */
  source: 'code' | 'user';
  /** Rises with every change. */
  version: number;
  createdAt: Date;
  updatedAt: Date;
  /** Who changed it last, such as `operator`, `key:<id>`, `cli:<user>` or `code`. */
  updatedBy: string;
}

/** A slot that has come. */
export type ScheduleSlot = SlotRow;

export interface ScheduleOwner {
  /** The tenant of the schedule and its runs; default: the tenant of the library, else `default`. */
  tenant?: string;
  /** Who changes it, for the audit; default `operator`. */
  by?: string;
}

export interface SetScheduleOptions extends ScheduleOwner {
  /** On whose behalf it is set, which decides what its runs may override; default `library`. */
  from?: OverrideCaller;
}

/** A page of schedules or slots. */
export interface SchedulePage {
  /** `nextAfter` of the page before. */
  after?: string;
  /** From 1 to 1,000; default 50. */
  limit?: number;
}

export interface Schedules {
  /**
   * Sets or replaces a schedule. If its times stay the same, so does its next slot. A paused schedule stays paused.
   *
   * @throws LanefoldError `invalid_id`; `invalid_input`, `details.field` names the field; and what `runs.enqueue` throws
   * for a request that its runs could not make
   */
  set(name: string, definition: ScheduleDefinition, on?: SetScheduleOptions): Promise<ListedSchedule>;
  /** Removes a schedule. Runs that it has started continue. @throws LanefoldError `schedule_not_found` */
  remove(name: string, on?: ScheduleOwner): Promise<void>;
  /** Starts no runs until it is resumed; slots that are due are skipped. @throws LanefoldError `schedule_not_found` */
  pause(name: string, on?: ScheduleOwner): Promise<ListedSchedule>;
  /** Resumes with the first slot from now on; those that passed meanwhile do not run. @throws LanefoldError `schedule_not_found` */
  resume(name: string, on?: ScheduleOwner): Promise<ListedSchedule>;
  /** @throws LanefoldError `schedule_not_found` */
  get(name: string, on?: Pick<ScheduleOwner, 'tenant'>): Promise<ListedSchedule>;
  /** Sorted by tenant and name. The library of one tenant lists only that tenant's schedules. */
  list(query?: SchedulePage): Promise<ListPage<ListedSchedule>>;
  /**
   * The slots that have come, newest first, also of a schedule that was removed.
   *
   * @throws LanefoldError `schedule_not_found` if there are none, and no such schedule
   */
  slots(name: string, query?: Pick<ScheduleOwner, 'tenant'> & SchedulePage): Promise<ListPage<ScheduleSlot>>;
}

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
  const find = async (name: string, owner: ScheduleOwner): Promise<ScheduleRow> => {
    assertName(name);
    const { tenant, on } = own(owner);
    const row = await readSchedule(on, tenant, name);
    if (!row) throw notFound(name, tenant);
    return row;
  };
  const listed = async (name: string, owner: ScheduleOwner) => toListed(await find(name, owner), await readNow(db));
  const setPaused = async (name: string, owner: ScheduleOwner, paused: boolean): Promise<ListedSchedule> => {
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
      const schedule = readDefinition(definition, now);
      await check(on, schedule, owner.from ?? 'library');
      const change = { nextAt: nextSlot(schedule, now), source: 'user', by } as const;
      await setSchedule(on, tenant, name, toStored(schedule), change);
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
      assertWhole(limit, 'limit', { minimum: 1, maximum: 1_000, hint: 'Pass the number of schedules.' });
      const [{ data, nextAfter }, now] = [await listSchedules(db, { after, limit }), await readNow(db)];
      return { data: data.map((row) => toListed(row, now)), nextAfter };
    },
    async slots(name, { after, limit = 50, ...owner } = {}) {
      assertWhole(limit, 'limit', { minimum: 1, maximum: 1_000, hint: 'Pass the number of slots.' });
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
