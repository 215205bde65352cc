import type { World } from '../world/world.ts';
import type { BoundedProcess } from './process.ts';

/** A platform has few of them to choose from. */
const bounds = [3_000, 8_000, 20_000, 55_000];

/** Has processes work now and then, at times two at once, and ends some of them in the middle. */
export function callNowAndThen(world: World, processes: readonly BoundedProcess[]): void {
  const { clock, chances } = world;
  const everyMs = chances.of('how often work is called').pick([1_000, 4_000, 15_000]);
  const next = (n: number): void => {
    const name = `work ${n}`;
    const random = chances.of(name);
    clock.in(random.int(everyMs / 2, everyMs * 2), undefined, () => {
      next(n + 1);
      const idle = processes.filter((process) => !process.isWorking);
      // mostly one works at a time
      if (idle.length === 0 || (idle.length < processes.length && !random.chance(0.3))) return;
      const process = random.pick(idle);
      const maxMs = random.pick(bounds);
      process.work({ maxMs, concurrency: random.int(1, 6) });
      const { call } = process;
      const later = (act: () => void) =>
        clock.in(random.int(1, maxMs * 1.1), undefined, () => {
          if (process.call === call) act();
        });
      const end = chances.fault<'killed' | 'called off'>(`${name} by ${process.name}`, {
        killed: 0.1,
        'called off': 0.1,
      });
      if (end === 'killed') later(() => process.crash());
      if (end === 'called off') later(() => process.stop());
    });
  };
  next(0);
}
