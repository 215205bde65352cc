import { loadavg } from 'node:os';
import type { Servers } from '../setup.ts';
import { median } from '../support/median.ts';
import { openLoad } from './load.ts';
import { startNodes } from './nodes.ts';

const atOnce = 10;
const rounds = 3;
const seconds = 8;

/** Runs per second of a coordinator with two nodes beside a plain PostgreSQL of the same version, in turn. */
export async function besidePlain(servers: Servers): Promise<void> {
  console.log('\nRuns per second, %d at a time: median of %d alternating rounds of %d s', atOnce, rounds, seconds);
  const [plain, two] = [await startNodes(0), await startNodes(2)];
  const loads = [await openLoad(servers, plain.url, atOnce), await openLoad(servers, two.url, atOnce)];
  const rates: number[][] = loads.map(() => []);
  for (const load of loads) await load.measure(seconds, atOnce);
  for (let round = 0; round < rounds; round++)
    for (const [i, load] of loads.entries()) rates[i]!.push(await load.measure(seconds, atOnce));
  const [one, distributed] = rates.map(median) as [number, number];
  console.log(
    `plain PostgreSQL ${one.toFixed(1)}   coordinator and two nodes ${distributed.toFixed(1)}   ${((distributed / one) * 100).toFixed(0)} %   load ${loadavg()[0]!.toFixed(1)}`,
  );
  for (const load of loads) await load.close();
  for (const nodes of [plain, two]) await nodes.stop();
}
