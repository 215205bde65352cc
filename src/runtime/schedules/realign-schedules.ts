import { setImmediate as nextTurn } from 'node:timers/promises';
import { isTransient } from '../../postgres/errors.ts';
import { fromStored } from '../../schedules/stored.ts';
import { nextSlot } from '../../schedules/timing.ts';
import { readNow } from '../../store/now.ts';
import { readSchedules } from '../../store/schedule/schedules.ts';
import { advanceSchedule } from '../../store/schedule/slots.ts';
import type { FireDependencies } from './dependencies.ts';

/**
 * Moves schedules back to the slot that comes next: a clock that was ahead for a while has moved them on too far. Slots
 * that it fired early do not fire again. Returns false if one of them could not be moved.
 */
export async function realignSchedules({ db, agents, onError, stopping }: FireDependencies): Promise<boolean> {
  const now = await readNow(db);
  let done = true;
  const own = (await readSchedules(db)).filter(({ agent, pausedAt }) => agents.includes(agent) && !pausedAt);
  for (const [no, row] of own.entries()) {
    if (stopping()) return false;
    // parsing cron expressions takes a while, and the process must keep renewing its leases
    if (no % 50 === 49) await nextTurn();
    try {
      const next = nextSlot(fromStored(row), now);
      if (next && !(row.nextAt && row.nextAt <= next)) await advanceSchedule(db, row, next, []);
    } catch (error) {
      onError(error);
      if (isTransient(error)) done = false;
    }
  }
  return done;
}
