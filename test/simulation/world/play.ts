import { checkHistory } from '../../../src/ops/history/check-history.ts';
import type { HistoryEvent } from '../../../src/ops/history/event.ts';
import type { Runtime } from '../../history/mutants/runtime.ts';
import type { Store } from '../store.ts';
import { Chances } from './chances.ts';
import { World, type Found } from './world.ts';

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

export function newWorld(store: Store, { seed, only, take }: Simulation): World {
  const chances = new Chances(seed, only);
  return new World(store, chances, chances.of('backend').pick(['redis', 'postgres']), take);
}

/**
 * Lets everything happen until the faults stop, and then what is left.
 *
 * @param end lets runs end, and reports those that do not
 */
export async function play(world: World, simulation: Simulation, end: () => Promise<void>): Promise<Simulated> {
  const { seed, steps, more = 0 } = simulation;
  const { chances, clock, events, found } = world;
  const begun = clock.now;
  while (world.steps < Math.min(steps, (found[0]?.step ?? Infinity) + more)) await world.happen(1);
  chances.calm = true;
  if (found.length === 0) await end();
  const reader = world.recorder('reader');
  for (const thread of world.threads) {
    await world.read(reader, thread);
    await world.readTrace(thread);
  }
  for (const { check, what, operations } of checkHistory(events))
    found.push({ check, what, step: world.stepOf[Math.max(...operations)]! });
  found.sort((a, b) => a.step - b.step);
  return { seed, steps: world.steps, virtualMs: clock.now - begun, events, found, happened: chances.happened };
}
