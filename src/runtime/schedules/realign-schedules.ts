import { fromStored } from '../../schedules/stored.ts';
import { nextSlot } from '../../schedules/timing.ts';
import { readNow } from '../../store/now.ts';
import { readSchedules } from '../../store/schedule/schedules.ts';
import { advanceSchedule } from '../../store/schedule/slots.ts';
import type { FireDependencies } from './dependencies.ts';

/**
 * Moves schedules back to the slot that comes next: a clock that was ahead for a while has moved them on too far. Slots
 * that it fired early do not fire again.
 */
export async function realignSchedules({ db, onError }: Pick<FireDependencies, 'db' | 'onError'>): Promise<void> {
  const now = await readNow(db);
  for (const row of await readSchedules(db)) {
    if (row.nextAt === null) continue;
    try {
      const next = nextSlot(fromStored(row), now);
      if (next && next < row.nextAt) await advanceSchedule(db, { ...row, nextAt: row.nextAt }, next, []);
    } catch (error) {
      onError(error);
    }
  }
}
