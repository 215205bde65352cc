import { Worker } from '../processes/worker.ts';
import type { SqlStore } from '../sql-store.ts';
import { disturb } from '../world/disturb.ts';
import { newWorld, play, type Simulated, type Simulation } from '../world/play.ts';
import { installReceivers } from '../world/receivers.ts';
import { Checks } from './checks.ts';
import { RoomClient } from './client.ts';
import { Fleet } from './fleet.ts';

/**
 * Lets clients, workers, queue and network do in all rooms what a seed decides. Workers are replaced by those of other
 * deployments; once the faults are over, what the last ones can execute has to end, and then, with all agents, everything.
 *
 * @param store a new database
 */
export async function simulateRooms(store: SqlStore, simulation: Simulation): Promise<Simulated> {
  installReceivers();
  const world = newWorld(store, simulation);
  const checks = new Checks(world, store);
  world.afterEach = () => checks.check();
  const fleet = new Fleet(world);
  const workers = ['w1', 'w2', 'w3'].map((name) => new Worker(world, name, fleet.equip));
  for (const name of ['ann', 'bob', 'cem']) new RoomClient(world, name);
  disturb(world, workers);
  return play(world, simulation, async () => {
    await checks.executable();
    fleet.complete = true;
    for (const worker of workers) worker.stop();
    await checks.all();
  });
}
