import type { World } from './world.ts';

/** A process with a worker. */
export interface Disturbed {
  readonly name: string;
  crash(restartMs: number): void;
  freeze(ms: number): void;
  stop(): void;
}

/** Crashes, freezes and stops workers, and flushes the queue. */
export function disturb({ clock, chances, jobs }: World, workers: readonly Disturbed[]): void {
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
