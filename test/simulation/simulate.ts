import { Client } from './processes/client.ts';
import { Worker } from './processes/worker.ts';
import type { Inspectable } from './store.ts';
import { disturb } from './world/disturb.ts';
import { newWorld, play, type Simulated, type Simulation } from './world/play.ts';
import { Progress } from './world/progress.ts';
import type { World } from './world/world.ts';

/** Lets clients, workers, queue and network do what a seed decides, then checks the history. */
export async function simulate(store: Inspectable, simulation: Simulation): Promise<Simulated> {
  const world = newWorld(store, simulation);
  const workers = ['w1', 'w2', 'w3'].map((name) => new Worker(world, name));
  for (const name of ['ann', 'bob', 'cem']) new Client(world, name);
  disturb(world, workers);
  return play(world, simulation, () => end(world, store));
}

/** Every accepted run ends, and what runs have reserved returns, now that nothing is lost any more. */
async function end(world: World, store: Inspectable): Promise<void> {
  const { clock } = world;
  const progress = new Progress(clock.now);
  for (;;) {
    const runs = await store.unfinished();
    const { reserved } = store.inside.limits;
    if (runs === 0 && reserved === 0) return;
    // the last sum to return counts as the last run to end
    if (progress.hasStopped(clock.now, runs + Number(reserved > 0)))
      return world.report(
        runs > 0 ? 'every-run-ends' : 'reservations-return',
        `${runs} runs have not ended, ${reserved} is reserved, and that has been so for long`,
      );
    await world.happen(100);
  }
}
