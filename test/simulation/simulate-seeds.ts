// A process of `npm run simulate`: simulates every n-th seed, and reports after each of them.
import type { Progress } from './main.ts';
import { openStores } from './stores.ts';

const [on, ...numbers] = process.argv.slice(2);
const [first, every, end, steps] = numbers.map(Number) as [number, number, number, number];
const stores = await openStores(on!);
const progress: Progress = { steps: 0, operations: 0, cpuMs: 0 };
// whoever asked is gone
process.once('disconnect', () => process.exit(1));
try {
  for (let seed = first; seed < end && !progress.failing; seed += every) {
    progress.seed = seed;
    const { events, happened, ...result } = await stores.simulate({ seed, steps });
    const { user, system } = process.cpuUsage();
    progress.steps += result.steps;
    progress.operations += events.filter(({ type }) => type === 'invoke').length;
    progress.cpuMs = (user + system) / 1_000;
    if (result.found.length > 0) progress.failing = { ...result, happened: [...happened] };
    await new Promise((sent) => process.send!(progress, sent));
  }
} catch (error) {
  console.error(`seed ${progress.seed}`, error);
  process.exitCode = 1;
} finally {
  await stores.close();
  process.removeAllListeners('disconnect');
  process.disconnect();
}
