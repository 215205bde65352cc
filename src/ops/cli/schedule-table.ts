import type { ListedSchedule, ScheduleSlot } from '../../features/schedules/operations/schedules.ts';
import { table } from './demo/table.ts';

/** Schedules as a table. */
export const scheduleTable = (schedules: readonly ListedSchedule[]): string[] =>
  table(
    ['name', 'tenant', 'agent', 'times', 'overlap', 'next'],
    schedules.map((schedule) => {
      const { name, tenant, agent, overlap = 'skip', next, pausedAt } = schedule;
      const when = pausedAt ? 'paused' : (next[0]?.toISOString() ?? 'ended');
      return [name, tenant, agent, timesOf(schedule), overlap, when];
    }),
  );

/** Slots as a table. */
export const slotTable = (slots: readonly ScheduleSlot[]): string[] =>
  table(
    ['slot', 'status', 'run', 'error'],
    slots.map(({ slot, status, runId, error }) => [slot.toISOString(), status, runId ?? '', error?.message ?? '']),
  );

const timesOf = ({ cron, everyMs, timeZone = 'UTC' }: ListedSchedule): string =>
  cron === undefined ? `every ${everyMs! / 1_000} s` : `${cron} (${timeZone})`;
