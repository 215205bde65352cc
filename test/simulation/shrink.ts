import type { Simulated, Simulation } from './world/play.ts';

/** The most histories that are tried. */
const most = 400;

/**
 * Leaves out faults and calls of a history for as long as one of its contradictions remains. Decisions have names and do
 * not depend on one another, so that what is left happens as before.
 *
 * @param simulate on a new store for each history
 * @param failing a history that shows the contradiction
 */
export async function shrink(
  simulate: (simulation: Simulation) => Promise<Simulated>,
  simulation: Simulation,
  failing: Simulated,
): Promise<Simulated & { only: string[] }> {
  const { check, step } = failing.found[0]!;
  let best = failing;
  let names = [...failing.happened.keys()];
  // what comes later has no part in it; of a history that is checked at its end, the end is needed
  const steps = Math.min(simulation.steps, step);
  let tries = 0;
  const fails = async (only: string[]): Promise<boolean> => {
    if (++tries > most) return false;
    const result = await simulate({ ...simulation, steps, only: new Set(only) });
    if (!result.found.some((found) => found.check === check)) return false;
    best = result;
    names = only.filter((name) => result.happened.has(name));
    return true;
  };
  for (let size = Math.ceil(names.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < names.length;) {
      const without = names.filter((_, i) => i < from || i >= from + size);
      if (!(await fails(without))) from += size;
    }
  }
  return { ...best, only: names };
}
