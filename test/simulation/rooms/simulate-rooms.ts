import { Worker, type Equip } from '../processes/worker.ts';
import type { SqlStore } from '../sql-store.ts';
import { disturb } from '../world/disturb.ts';
import { newWorld, play, type Simulated, type Simulation } from '../world/play.ts';
import { installReceivers } from '../world/receivers.ts';
import type { World } from '../world/world.ts';
import { agentsOf, deployments, type Deployment } from './agents.ts';
import { Checks } from './checks.ts';
import { RoomClient } from './client.ts';
import { openProcess } from './process.ts';

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

/** The deployments of workers. */
class Fleet {
  /** From now on workers start with all agents. */
  complete = false;

  constructor(private readonly world: World) {}

  readonly equip: Equip = (actor, queue, onError) => {
    const random = this.world.chances.of(`deployment of ${actor.name}.${actor.life}`);
    const others = Object.keys(deployments) as Deployment[];
    const deployment = this.complete || random.chance(0.4) ? 'all' : random.pick(others);
    const unknownAgentMs = this.world.chances.of('unknownAgentMs').pick([undefined, 20_000]);
    return {
      deps: openProcess(actor, queue, agentsOf(deployment), onError).worker,
      options: { onUnknownAgent: () => {}, ...(unknownAgentMs === undefined ? {} : { unknownAgentMs }) },
    };
  };
}
