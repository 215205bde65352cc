import { setTimeout as delay } from 'node:timers/promises';

/** With more runs open, the load skips runs instead of piling them up. */
const mostOpen = 500;
const tickMs = 5;

/** What has happened since the load was last asked. */
export interface LoadInterval {
  seconds: number;
  /** From request to end, in milliseconds. */
  latencies: number[];
  skipped: number;
}

export interface SteadyLoad {
  interval(): LoadInterval;
  /** Resolves when the open runs have ended. */
  stop(): Promise<void>;
}

/** Starts runs at a steady rate, however long they take. */
export function startSteadyLoad(run: () => Promise<void>, runsPerSecond: number): SteadyLoad {
  const open = new Set<Promise<void>>();
  const startedAt = performance.now();
  let [due, skipped, askedAt, stopped] = [0, 0, startedAt, false];
  let latencies: number[] = [];
  let failure: unknown;
  const start = () => {
    const from = performance.now();
    const one = run()
      .then(
        () => void latencies.push(performance.now() - from),
        (error: unknown) => (failure ??= error),
      )
      .then(() => void open.delete(one));
    open.add(one);
  };
  const loop = (async () => {
    while (!stopped) {
      for (; due < ((performance.now() - startedAt) / 1_000) * runsPerSecond; due++) {
        if (open.size < mostOpen) start();
        else skipped++;
      }
      await delay(tickMs);
    }
  })();
  return {
    interval() {
      if (failure !== undefined) throw failure;
      const now = performance.now();
      const interval = { seconds: (now - askedAt) / 1_000, latencies, skipped };
      [askedAt, skipped, latencies] = [now, 0, []];
      return interval;
    },
    async stop() {
      stopped = true;
      await loop;
      await Promise.all(open);
    },
  };
}
