// Simulates seeds until one contradicts a promise, which is then shrunk and shown:
//   npm run simulate -- --seeds 1000 --steps 10000 [--seed 7] [--on model|sql] [--jobs 4]
// `--seed` is the first seed. On `sql`, the functions of a PostgreSQL of its own are called and compared with the model.
// `--jobs`: processes that share the seeds; default: one for each core, and one on `sql`.
import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { startPostgres } from './postgres.ts';
import { show } from './show.ts';
import { shrink } from './shrink.ts';
import type { Simulated } from './simulate.ts';
import { Model } from './model/model.ts';

/** What a process has simulated so far. */
export interface Progress {
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
    on: { type: 'string', default: 'model' },
    jobs: { type: 'string', default: String(availableParallelism()) },
  },
});
const [seeds, steps, first, cores] = [values.seeds, values.steps, values.seed, values.jobs].map((text) => {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new Error(`${text} is not a whole number from 1 on.`);
}) as [number, number, number, number];
if (!['model', 'sql'].includes(values.on)) throw new Error('--on takes model or sql.');
const jobs = values.on === 'sql' ? 1 : Math.min(cores, seeds);

const startedAt = performance.now();
const progress: Progress[] = [];
let done = 0;
const failing = await new Promise<Progress['failing']>((resolve) => {
  const left = new Set(
    Array.from({ length: jobs }, (_, job) => {
      const args = [values.on, first + job, jobs, first + seeds, steps].map(String);
      return fork(`${import.meta.dirname}/simulate-seeds.ts`, args);
    }),
  );
  for (const [job, child] of [...left].entries()) {
    child.on('message', (own: Progress) => {
      progress[job] = own;
      if (++done % 10 === 0 || done === seeds) console.log(`${done} seeds, ${rate()}`);
      if (!own.failing) return;
      for (const other of left) other.kill();
      resolve(own.failing);
    });
    child.on('exit', (code) => {
      left.delete(child);
      if (code) process.exitCode = 1;
      if (left.size === 0) resolve(undefined);
    });
  }
});
if (failing) {
  process.exitCode = 1;
  const server = values.on === 'sql' ? await startPostgres() : undefined;
  const history: Simulated = { ...failing, events: [], happened: new Map(failing.happened) };
  console.log(`${show({ ...history, happened: new Map() })}\nShrinking …`);
  const open = async () => (server ? server.open() : new Model());
  console.log(show(await shrink(open, { seed: failing.seed, steps }, history)));
  await server?.stop();
}

function rate(): string {
  const seconds = (performance.now() - startedAt) / 1_000;
  const sum = (of: 'steps' | 'operations' | 'cpuMs') => progress.reduce((all, own) => all + (own?.[of] ?? 0), 0);
  const perCpu = Math.round(sum('steps') / (sum('cpuMs') / 1_000));
  const perHour = Math.round((done / seconds) * 3_600);
  return `${sum('steps')} steps, ${sum('operations')} operations, ${seconds.toFixed(0)} s: ${perHour} seeds an hour, ${perCpu} steps per second of CPU`;
}
