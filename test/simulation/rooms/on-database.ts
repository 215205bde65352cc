import { openLog } from '../../db/helpers.ts';
import { change } from '../../history/mutants/change.ts';
import type { Mutant } from '../../history/mutants/mutants.ts';
import { SqlStore } from '../sql-store.ts';
import type { Simulated, Simulation } from '../world/play.ts';
import { simulateRooms } from './simulate-rooms.ts';

/** Simulates all rooms on a new database of the test server, whose functions a mutant may have broken. */
export async function onDatabase(
  simulation: Simulation,
  mutant?: Mutant,
  simulate: typeof simulateRooms = simulateRooms,
): Promise<Simulated> {
  const log = await openLog({ connections: 1 });
  try {
    if (mutant) await change(log, mutant);
    return await simulate(await SqlStore.openForRooms(log.db), simulation);
  } finally {
    await log.drop();
  }
}
