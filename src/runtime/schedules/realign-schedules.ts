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
export async function realignSchedules({ db, onError }: Pick<FireDependencies, 'db' | 'onError'>): Promise<boolean> {
  const now = await readNow(db);
  let done = true;
  for (const row of await readSchedules(db)) {
    if (row.pausedAt) continue;
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
