import { Checks } from '../rooms/checks.ts';
import { RoomClient } from '../rooms/client.ts';
import { Fleet } from '../rooms/fleet.ts';
import type { SqlStore } from '../sql-store.ts';
import { disturb } from '../world/disturb.ts';
import { newWorld, play, type Simulated, type Simulation } from '../world/play.ts';
import { installReceivers } from '../world/receivers.ts';
import { BoundedProcess } from './process.ts';
import { Promises } from './promises.ts';
import { callNowAndThen } from './scheduler.ts';

/**
 * Lets clients act in all rooms while the fleet has no lasting worker: a scheduler calls for work now and then, and what
 * works for a bounded time has to do everything that lasting workers do. Once the faults are over, everything has to end
 * by such calls alone.
 *
 * @param store a new database
 */
export async function simulateBounded(store: SqlStore, simulation: Simulation): Promise<Simulated> {
  installReceivers();
  const world = newWorld(store, simulation);
  const checks = new Checks(world, store);
  world.afterEach = () => checks.check();
  world.jobs.wayMs = (token) => world.chances.of(`way of ${token}`).pick([3, 3, 40, 400]);
  const fleet = new Fleet(world);
  const promises = new Promises(world, store);
  const processes = ['f1', 'f2', 'f3'].map((name) => new BoundedProcess(world, name, fleet.equip, promises));
  for (const name of ['ann', 'bob', 'cem']) new RoomClient(world, name);
  callNowAndThen(world, processes);
  disturb(world, processes);
  return play(world, simulation, async () => {
    fleet.complete = true;
    for (const process of processes) process.end();
    await checks.all();
  });
}
