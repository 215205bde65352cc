import { fileURLToPath } from 'node:url';
import type { Servers } from '../setup.ts';
import { median } from '../support/median.ts';
import type { Collections, Pauses } from '../support/pauses.ts';
import { sideBySide, type Contestant } from '../support/side-by-side.ts';
import type { Conditions } from '../systems/lanefold.ts';

const file = fileURLToPath(new URL('systems/lanefold.js', import.meta.url));
const concurrency = 10;
const contextBytes = 1_000_000;
const seconds = 5;

/** Measures how long garbage collection and the handling of large contexts stop a process that is client and worker. */
export async function largeContexts(servers: Servers): Promise<void> {
  const contestant = (name: string, options: Conditions): Contestant => ({
    name,
    file,
    usesRedis: servers.redisUrl !== undefined,
    options,
    loads: [{ concurrency, pauses: true }],
  });
  const contestants = [contestant('new threads', {}), contestant('contexts of 1 MB', { contextBytes })];
  const figuresOf = await sideBySide(servers, contestants, {
    rounds: 3,
    seconds,
    warmUpSeconds: 3,
    concurrencies: [],
  });
  console.log(`\nPauses of a process with ${concurrency} runs at a time (ms; median of 3 interleaved rounds)`);
  for (const contestant of contestants) {
    const { runsPerSecond, node, pauses } = figuresOf(contestant, concurrency);
    const of = (read: (one: Pauses) => number) => median(pauses!.map(read)).toFixed(1);
    const collections = (read: (one: Pauses) => Collections) =>
      `${of((one) => read(one).count)}, in all ${of((one) => read(one).total)}, p99 ${of((one) => read(one).p99)}, max ${of((one) => read(one).max)}`;
    console.log(
      `${contestant.name}: ${runsPerSecond.toFixed(0)} runs/s, CPU of Node ${node.toFixed(2)} a run; event loop late by p50 ${of((one) => one.loopDelay.p50)}, ` +
        `p99 ${of((one) => one.loopDelay.p99)}, max ${of((one) => one.loopDelay.max)}\n` +
        `  in ${seconds} s, minor collections ${collections((one) => one.collections.minor)}; major ${collections((one) => one.collections.major)}`,
    );
  }
}
