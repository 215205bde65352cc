import type { Lanefold } from 'lanefold';
import { setTimeout as delay } from 'node:timers/promises';
import { text400 } from '../workload.ts';

/** Conversations that are open at once; each gets a run every ten seconds at 50 runs/s. */
const openThreads = 500;
const runsPerThread = 10;
/** With more requests in flight, the client skips runs instead of queuing them in memory. */
const mostRequests = 200;
const tickMs = 20;

export interface Load {
  readonly accepted: number;
  readonly skipped: number;
  readonly failed: number;
  stop(): Promise<void>;
}

/**
 * Enqueues runs at a steady rate, ten to a thread. A thread whose run has not ended makes the next one wait in line.
 */
export function startLoad(lanefold: Lanefold, runsPerSecond: number): Load {
  let [accepted, skipped, failed, sent] = [0, 0, 0, 0];
  const underWay = new Set<Promise<void>>();
  const send = (n: number) => {
    const slot = n % openThreads;
    const generation = Math.floor(n / openThreads / runsPerThread);
    const request = lanefold.runs
      .enqueue({
        agent: 'bench',
        threadId: `soak-${generation}-${slot}`,
        createThread: true,
        input: text400,
        busy: 'wait',
      })
      .then(
        () => void accepted++,
        (error: unknown) => {
          if (failed++ === 0) console.error('a run was rejected:', error);
        },
      )
      .finally(() => underWay.delete(request));
    underWay.add(request);
  };
  let stopped = false;
  const loop = (async () => {
    const startedAt = performance.now();
    while (!stopped) {
      const due = Math.floor(((performance.now() - startedAt) / 1_000) * runsPerSecond);
      for (; sent < due; sent++) {
        if (underWay.size < mostRequests) send(sent);
        else skipped++;
      }
      await delay(tickMs);
    }
  })();
  return {
    get accepted() {
      return accepted;
    },
    get skipped() {
      return skipped;
    },
    get failed() {
      return failed;
    },
    async stop() {
      stopped = true;
      await loop;
      await Promise.all(underWay);
    },
  };
}
