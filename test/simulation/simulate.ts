import { checkHistory } from '../../src/history/check-history.ts';
import type { HistoryEvent } from '../../src/history/event.ts';
import type { Runtime } from '../history/mutants/runtime.ts';
import { Client } from './processes/client.ts';
import { Worker } from './processes/worker.ts';
import type { Store } from './store.ts';
import { Chances } from './world/chances.ts';
import { Progress } from './world/progress.ts';
import { World, type Found } from './world/world.ts';

export interface Simulation {
  seed: number;
  /** Events, not counting timers, until the faults stop and clients ask for nothing more. */
  steps: number;
  /** Faults and calls of clients, by name: nothing else happens. Default: what the seed decides. */
  only?: ReadonlySet<string> | undefined;
  /** What workers take from their claims; default: everything. */
  take?: Runtime['take'] | undefined;
  /** Events after the first contradiction that is seen at once, before the history is checked; default 0. */
  more?: number;
}

export interface Simulated {
  seed: number;
  /** Events that happened, with those after the faults. */
  steps: number;
  virtualMs: number;
  events: HistoryEvent[];
  /** Contradictions, the one that was found first at the beginning. */
  found: Found[];
  /** Faults and calls of clients, by name. */
  happened: Map<string, string>;
}

/** Lets clients, workers, queue and network do what a seed decides, then checks the history. */
export async function simulate(store: Store, { seed, steps, only, take, more = 0 }: Simulation): Promise<Simulated> {
  const chances = new Chances(seed, only);
  const world = new World(store, chances, chances.of('backend').pick(['redis', 'postgres']), take);
  const workers = ['w1', 'w2', 'w3'].map((name) => new Worker(world, name));
  for (const name of ['ann', 'bob', 'cem']) new Client(world, name);
  disturb(world, workers);
  const begun = world.clock.now;
  while (world.steps < Math.min(steps, (world.found[0]?.step ?? Infinity) + more)) await step(world);
  chances.calm = true;
  if (world.found.length === 0) await end(world);
  const reader = world.recorder('reader');
  for (const thread of world.threads) {
    await world.read(reader, thread);
    await world.readTrace(thread);
  }
  for (const { check, what, operations } of checkHistory(world.events))
    world.found.push({ check, what, step: world.stepOf[Math.max(...operations)]! });
  const { events, found } = world;
  found.sort((a, b) => a.step - b.step);
  return { seed, steps: world.steps, virtualMs: world.clock.now - begun, events, found, happened: chances.happened };
}

async function step(world: World): Promise<void> {
  while (!(await world.clock.step()));
  world.steps++;
}

/** Every accepted run ends, and what runs have reserved returns, now that nothing is lost any more. */
async function end(world: World): Promise<void> {
  const { store, clock } = world;
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
    for (let n = 0; n < 100; n++) await step(world);
  }
}

/** Crashes, freezes and stops workers, and flushes the queue. */
function disturb({ clock, chances, jobs }: World, workers: readonly Worker[]): void {
  const next = (n: number): void => {
    const name = `disturbance ${n}`;
    const random = chances.of(name);
    clock.in(random.int(500, 9_000), undefined, () => {
      if (chances.calm) return;
      next(n + 1);
      const worker = random.pick(workers);
      const shares = { crash: 0.2, freeze: 0.15, stop: 0.1, ...(jobs.backend === 'redis' ? { flush: 0.05 } : {}) };
      switch (chances.fault(`${name} of ${worker.name}`, shares)) {
        case 'crash':
          return worker.crash(random.int(100, 10_000));
        case 'freeze':
          return worker.freeze(random.int(500, 20_000));
        case 'stop':
          return worker.stop();
        case 'flush':
          return jobs.flush();
      }
    });
  };
  next(0);
}
