import { assertId } from '../../checks/ids.ts';
import { assertWhole } from '../../checks/whole-number.ts';
import type { JsonObject } from '../../context/message.ts';
import { LanefoldError } from '../../errors.ts';
import type { OverrideCaller } from '../../agents/overridable.ts';
import type { Database } from '../../postgres/pool.ts';
import type { ScheduleDefinition } from '../../schedules/definition.ts';
import { readDefinition } from '../../schedules/read-definition.ts';
import { fromStored, toStored } from '../../schedules/stored.ts';
import { nextSlot, nextSlots } from '../../schedules/timing.ts';
import { writeAudit } from '../../store/access/audit.ts';
import {
  pauseSchedule,
  readSchedule,
  readSchedules,
  removeSchedule,
  setSchedule,
  type ScheduleRow,
} from '../../store/schedule/schedules.ts';
import { readSlots, type SlotRow } from '../../store/schedule/slots.ts';
import { readNow } from '../../store/now.ts';
import { otherTenant } from '../access/tenant-scope.ts';
import { assertName } from './assert-name.ts';

/** A schedule with its state. */
export interface ListedSchedule extends ScheduleDefinition {
  name: string;
  /** The tenant whose runs it starts. */
  tenant: string;
  /** The next five slots; none while it is paused, and once it has ended. */
  next: Date[];
  pausedAt: Date | null;
  /** `code`: a program defines it. */
  source: 'code' | 'user';
  /** Rises with every change. */
  version: number;
  createdAt: Date;
  updatedAt: Date;
  /** Who changed it last: `operator`, `key:<id>`, `cli:<user>` or `code`. */
  updatedBy: string;
}

/** A slot that has come. */
export type ScheduleSlot = SlotRow;

export interface ScheduleOwner {
  /** The tenant of the schedule and its runs; default: the tenant of the library, else `default`. */
  tenant?: string;
  /** Who changes it, for the audit; default `operator`. */
  by?: string;
  /** Who sets it: what its runs may override depends on it; default `library`. */
  from?: OverrideCaller;
}

export interface Schedules {
  /**
   * Sets a schedule, or replaces it. With the same times, the next slot stays what it is; what is paused stays paused.
   *
   * @throws LanefoldError `invalid_id`; `invalid_input`, `details.field` names the field; and what `runs.enqueue` throws
   * for a request that its runs could not make
   */
  set(name: string, definition: ScheduleDefinition, on?: ScheduleOwner): Promise<ListedSchedule>;
  /** Removes a schedule; runs that it has started go on. @throws LanefoldError `schedule_not_found` */
  remove(name: string, on?: ScheduleOwner): Promise<void>;
  /** Starts no runs until it is resumed. @throws LanefoldError `schedule_not_found` */
  pause(name: string, on?: ScheduleOwner): Promise<ListedSchedule>;
  /** Goes on with the next slot from now on: those in between pass. @throws LanefoldError `schedule_not_found` */
  resume(name: string, on?: ScheduleOwner): Promise<ListedSchedule>;
  /** @throws LanefoldError `schedule_not_found` */
  get(name: string, on?: Pick<ScheduleOwner, 'tenant'>): Promise<ListedSchedule>;
  /** By tenant and name. A library of one tenant lists those of the tenant. */
  list(): Promise<ListedSchedule[]>;
  /** The slots that have come, newest first; `limit` from 1 to 1,000, default 50. */
  slots(name: string, query?: Pick<ScheduleOwner, 'tenant'> & { limit?: number }): Promise<ScheduleSlot[]>;
}

const shownSlots = 5;

/** @param check throws if its runs could not be requested */
export function schedulesOf(
  db: Database,
  check: (schedule: ScheduleDefinition, from: OverrideCaller) => Promise<void>,
): Schedules {
  const tenantOf = ({ tenant = db.tenant ?? 'default' }: ScheduleOwner): string => {
    assertId(tenant, 'The tenant id');
    if (db.tenant !== undefined && tenant !== db.tenant) throw otherTenant(tenant, db.tenant);
    return tenant;
  };
  const find = async (tenant: string, name: string): Promise<ScheduleRow> => {
    assertName(name);
    const row = await readSchedule(db, tenant, name);
    if (!row) throw notFound(name, tenant);
    return row;
  };
  const audit = (action: string, tenantId: string, { by = 'operator' }: ScheduleOwner, detail: JsonObject) =>
    writeAudit(db, { actor: by, action: `schedules.${action}`, tenantId, detail });
  const listed = async (tenant: string, name: string) => toListed(await find(tenant, name), await readNow(db));
  const setPaused = async (name: string, on: ScheduleOwner, paused: boolean): Promise<ListedSchedule> => {
    const tenant = tenantOf(on);
    const row = await find(tenant, name);
    await audit(paused ? 'pause' : 'resume', tenant, on, { name });
    const nextAt = paused ? undefined : nextSlot(fromStored(row), await readNow(db));
    await pauseSchedule(db, tenant, name, { paused, nextAt, by: on.by ?? 'operator' });
    return listed(tenant, name);
  };
  return {
    async set(name, definition, on = {}) {
      assertName(name);
      const tenant = tenantOf(on);
      const now = await readNow(db);
      const schedule = readDefinition(definition, now);
      await check(schedule, on.from ?? 'library');
      const stored = toStored(schedule);
      const before = await readSchedule(db, tenant, name);
      await audit('set', tenant, on, {
        name,
        new: stored as unknown as JsonObject,
        ...(before ? { old: oldOf(before) } : {}),
      });
      await setSchedule(db, tenant, name, stored, {
        nextAt: nextSlot(schedule, now),
        source: 'user',
        by: on.by ?? 'operator',
      });
      return listed(tenant, name);
    },
    async remove(name, on = {}) {
      const tenant = tenantOf(on);
      const before = await find(tenant, name);
      await audit('remove', tenant, on, { name, old: oldOf(before) });
      if (!(await removeSchedule(db, tenant, name))) throw notFound(name, tenant);
    },
    pause: (name, on = {}) => setPaused(name, on, true),
    resume: (name, on = {}) => setPaused(name, on, false),
    get: (name, on = {}) => listed(tenantOf(on), name),
    async list() {
      const [rows, now] = [await readSchedules(db), await readNow(db)];
      return rows.map((row) => toListed(row, now));
    },
    async slots(name, { limit = 50, ...on } = {}) {
      assertWhole(limit, 'limit', { minimum: 1, maximum: 1_000, hint: 'Pass the number of slots.' });
      const tenant = tenantOf(on);
      assertName(name);
      return readSlots(db, tenant, name, limit);
    },
  };
}

function toListed(row: ScheduleRow, now: Date): ListedSchedule {
  const { tenantId, name, version, nextAt, pausedAt, source, createdAt, updatedAt, updatedBy } = row;
  const schedule = fromStored(row);
  const from = nextAt && nextAt > now ? new Date(nextAt.getTime() - 1) : now;
  return {
    ...schedule,
    ...{ name, tenant: tenantId, pausedAt, source, version, createdAt, updatedAt, updatedBy },
    next: nextAt ? nextSlots(schedule, from, shownSlots) : [],
  };
}

const oldOf = ({ agent, overlap, thread_id, timing, definition }: ScheduleRow): JsonObject => ({
  ...{ agent, overlap, thread_id, timing, definition },
});

const notFound = (name: string, tenant: string): LanefoldError =>
  new LanefoldError('schedule_not_found', `Schedule ${name} of tenant ${tenant} does not exist.`, {
    hint: 'List the schedules with `lanefold schedules`.',
  });
