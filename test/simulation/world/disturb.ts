import type { World } from './world.ts';

/** A process with a worker. */
export interface Disturbed {
  readonly name: string;
  crash(restartMs: number): void;
  freeze(ms: number): void;
  /** As if it were frozen, but it computes. */
  block(ms: number): void;
  stop(): void;
}

/** Crashes, freezes and stops workers, evicts several at once, takes the database down, and flushes the queue. */
export function disturb(world: World, workers: readonly Disturbed[]): void {
  const { clock, chances, jobs } = world;
  const next = (n: number): void => {
    const name = `disturbance ${n}`;
    const random = chances.of(name);
    clock.in(random.int(500, 9_000), undefined, () => {
      if (chances.calm) return;
      next(n + 1);
      const worker = random.pick(workers);
      const flush = jobs.backend === 'redis' ? { flush: 0.05 } : {};
      const shares = { crash: 0.2, freeze: 0.15, stop: 0.1, ...flush, evict: 0.06, outage: 0.04 };
      switch (chances.fault(`${name} of ${worker.name}`, shares)) {
        case 'crash':
          return worker.crash(random.int(100, 10_000));
        case 'freeze':
          return worker.freeze(random.int(500, 20_000));
        case 'stop':
          return worker.stop();
        case 'evict':
          for (const other of workers) if (other === worker || random.chance(0.7)) other.crash(random.int(100, 10_000));
          return;
        case 'outage':
          // the machine of the database may have had a worker
          if (random.chance(0.5)) worker.crash(random.int(100, 10_000));
          return world.takeDown(random.int(500, 20_000), random.chance(0.6));
        case 'flush':
          return jobs.flush();
      }
    });
  };
  next(0);
}
