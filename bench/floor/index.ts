import { fileURLToPath } from 'node:url';
import type { Servers } from '../setup.ts';
import type { FloorOptions } from '../systems/floor.ts';
import type { Load } from '../processes/measured.ts';
import { sideBySide, type Contestant, type Figures } from '../support/side-by-side.ts';
import { prepareFloor } from './prepare.ts';

const fileOf = (system: string) => fileURLToPath(new URL(`systems/${system}.js`, import.meta.url));
const concurrencies = [1, 10, 50] as const;
/** Runs that share a commit, on one connection and on as many as a process of Lanefold has. */
const together = [1, 5, 10, 50, 500] as const;
const connections = [1, 10] as const;
const loads: Load[] = connections.flatMap((concurrency) => together.map((runs) => ({ concurrency, together: runs })));

const floor = (name: string, options: FloorOptions & { bare: boolean }, of: Load[]): Contestant => ({
  name,
  file: fileOf('floor'),
  usesRedis: false,
  prepare: (databaseUrl) => prepareFloor(databaseUrl, options),
  options,
  loads: of,
});
const floors = [
  floor('Lanefold’s tables', { way: 'commits', bare: false }, loads),
  floor('primary keys only', { way: 'commits', bare: true }, loads),
];
const copyLoads: Load[] = connections.map((concurrency) => ({ concurrency, together: 500 }));
const copies = [
  floor('COPY, Lanefold’s tables', { way: 'copy', bare: false }, copyLoads),
  floor('COPY, primary keys only', { way: 'copy', bare: true }, copyLoads),
];

const ms = (value: number | undefined) => (value === undefined ? '?' : value.toFixed(2));
const row = (what: string, { runsPerSecond, node, postgres }: Figures) =>
  `${what.padEnd(58)} ${runsPerSecond.toFixed(0).padStart(6)} runs/s  CPU: Node ${ms(node)}, PostgreSQL ${ms(postgres)}`;

/**
 * Compares Lanefold with its rows written by hand: the same rows in the same five commits, but without a queue, leases,
 * checks or answers, with any number of runs in a commit.
 */
export async function floorOfRuns(servers: Servers): Promise<void> {
  const lanefold: Contestant[] = [{ name: 'queue in PostgreSQL', file: fileOf('lanefold'), usesRedis: false }];
  if (servers.redisUrl) lanefold.push({ name: 'queue in Redis', file: fileOf('lanefold'), usesRedis: true });
  const figuresOf = await sideBySide(servers, [...floors, ...copies, ...lanefold], {
    rounds: 3,
    seconds: 1.5,
    warmUpSeconds: 2,
    concurrencies,
  });
  console.log('\nThe floor: the rows of a run written by hand (median of 3 interleaved rounds; CPU in ms per run)');
  for (const contestant of [...floors, ...copies]) {
    for (const { concurrency, together: runs } of contestant.loads!) {
      const where = concurrency === 1 ? 'one connection' : `${concurrency} connections`;
      const what = `${contestant.name}, ${where}, ${runs} to a commit`;
      console.log(row(what, figuresOf(contestant, concurrency, runs)));
    }
  }
  console.log('Lanefold, and its share of the fastest floor with its tables and at most as many runs at a time');
  for (const contestant of lanefold) {
    for (const concurrency of concurrencies) {
      const own = figuresOf(contestant, concurrency);
      const best = loads
        .filter((load) => load.concurrency * load.together! <= concurrency)
        .map((load) => figuresOf(floors[0]!, load.concurrency, load.together))
        .toSorted((a, b) => b.runsPerSecond - a.runsPerSecond)[0]!;
      const cpu = (own.postgres ?? NaN) / (best.postgres ?? NaN);
      console.log(
        `${row(`${contestant.name}, ${concurrency} at a time`, own)}; ` +
          `${((100 * own.runsPerSecond) / best.runsPerSecond).toFixed(0)} % of ${best.runsPerSecond.toFixed(0)} runs/s, ` +
          `${cpu.toFixed(1)} times the CPU of PostgreSQL`,
      );
    }
  }
}
