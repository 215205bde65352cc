// Simulates seeds until one contradicts a promise, which is then shrunk and shown:
//   npm run simulate -- --seeds 1000 --steps 10000 [--seed 7] [--on model|sql|rooms|bounded] [--processes 4]
// `--seed` is the first seed. On `sql`, the functions of a PostgreSQL are called and compared with the model; `rooms`
// simulates all rooms of the product on them, and `bounded` the same with workers for a bounded time alone.
// `--processes` share the seeds, each with a PostgreSQL of its own; default: one for each core.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { show } from './show.ts';
import { shrink } from './shrink.ts';
import { openStores, places } from './stores.ts';
import type { Simulated } from './world/play.ts';

/** What a process has simulated so far. */
export interface Progress {
  /** The last one. */
  seed?: number;
  steps: number;
  operations: number;
  cpuMs: number;
  /** The history of a seed that contradicts a promise. */
  failing?: Pick<Simulated, 'seed' | 'steps' | 'virtualMs' | 'found'> & { happened: [string, string][] };
}

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    steps: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    processes: { type: 'string', default: String(availableParallelism()) },
    on: { type: 'string', default: 'model' },
  },
});
const [seeds, steps, first, processes] = (['seeds', 'steps', 'seed', 'processes'] as const).map((name) => {
  if (/^[1-9]\d{0,8}$/.test(values[name])) return Number(values[name]);
  throw new Error(`--${name} takes a whole number from 1 on.`);
}) as [number, number, number, number];
if (!places.includes(values.on)) throw new Error(`--on takes ${places.join(', ')}.`);

const startedAt = performance.now();
const progress = new Map<ChildProcess, Progress>();
const sharing = Math.min(processes, seeds);
let done = 0;
for (let n = 0; n < sharing; n++) {
  const args = [values.on, first + n, sharing, first + seeds, steps].map(String);
  const child = fork(`${import.meta.dirname}/simulate-seeds.ts`, args);
  progress.set(child, { steps: 0, operations: 0, cpuMs: 0 });
  child.on('message', (own: Progress) => {
    progress.set(child, own);
    if (++done % 10 === 0 || done === seeds) console.log(`${done} seeds, ${rate()}`);
    if (own.failing) stopAllBut(child);
  });
  child.on('exit', (code) => {
    if (code !== 0 && !child.killed) stopAllBut(child);
  });
}
// after its last message
await Promise.all([...progress.keys()].map((child) => once(child, 'disconnect')));
const failing = [...progress.values()].flatMap((own) => own.failing ?? [])[0];
if (done < seeds) {
  console.log(`${done} of ${seeds} seeds, ${rate()}`);
  process.exitCode = 1;
}
if (failing) await shrinkAndShow({ ...failing, events: [], happened: new Map(failing.happened) });

function stopAllBut(one: ChildProcess): void {
  for (const child of progress.keys()) if (child !== one) child.kill();
}

async function shrinkAndShow(history: Simulated): Promise<void> {
  process.exitCode = 1;
  console.log(`${show({ ...history, happened: new Map() })}\nShrinking …`);
  const stores = await openStores(values.on);
  console.log(show(await shrink(stores.simulate, { seed: history.seed, steps }, history)));
  await stores.close();
}

function rate(): string {
  const seconds = (performance.now() - startedAt) / 1_000;
  const sum = (of: 'steps' | 'operations' | 'cpuMs') => [...progress.values()].reduce((all, own) => all + own[of], 0);
  const perCpu = Math.round(sum('steps') / (sum('cpuMs') / 1_000));
  const perHour = Math.round((done / seconds) * 3_600);
  return `${sum('steps')} steps, ${sum('operations')} operations, ${seconds.toFixed(0)} s: ${perHour} seeds an hour, ${perCpu} steps per second of CPU`;
}
