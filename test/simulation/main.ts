// Simulates seeds until one contradicts a promise, which is then shrunk and shown:
//   npm run simulate -- --seeds 1000 --steps 10000 [--seed 7] [--on model|sql]
// `--seed` is the first seed. On `sql`, the functions of a PostgreSQL of its own are called and compared with the model.
import { parseArgs } from 'node:util';
import { Model } from './model/model.ts';
import { startPostgres } from './postgres.ts';
import { show } from './show.ts';
import { shrink } from './shrink.ts';
import { simulate } from './simulate.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    steps: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    on: { type: 'string', default: 'model' },
  },
});
const [seeds, steps, first] = [values.seeds, values.steps, values.seed].map((text) => {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new Error(`${text} is not a whole number from 1 on.`);
}) as [number, number, number];
if (!['model', 'sql'].includes(values.on)) throw new Error('--on takes model or sql.');

const server = values.on === 'sql' ? await startPostgres() : undefined;
const open = async () => (server ? server.open() : new Model());
const startedAt = performance.now();
let done = 0;
let operations = 0;
try {
  for (let seed = first; seed < first + seeds; seed++) {
    const result = await simulate(await open(), { seed, steps });
    done += result.steps;
    operations += result.events.length / 2;
    if (result.found.length > 0) {
      console.log(`${show({ ...result, events: [], happened: new Map() })}\nShrinking …`);
      console.log(show(await shrink(open, { seed, steps }, result)));
      process.exitCode = 1;
      break;
    }
    if ((seed - first + 1) % 10 === 0 || seed === first + seeds - 1)
      console.log(`${seed - first + 1} seeds, ${rate()}`);
  }
} finally {
  await server?.stop();
}

function rate(): string {
  const seconds = (performance.now() - startedAt) / 1_000;
  const { user, system } = process.cpuUsage();
  const perCpu = Math.round(done / ((user + system) / 1e6));
  return `${done} steps, ${Math.round(operations)} operations, ${seconds.toFixed(0)} s, ${Math.round(done / seconds)} steps/s, ${perCpu} steps per second of CPU`;
}
