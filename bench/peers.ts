import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { printMachine } from './support/machine.ts';
import { sideBySide, type Contestant, type Figures } from './support/side-by-side.ts';
import { startServers } from './setup.ts';

// npm run bench:peers [-- --seconds 5 --rounds 3 --warm-up 5] [lanefold-postgres lanefold-redis dbos …]

const concurrencies = [1, 10, 50] as const;
const folder = path.resolve('bench/peers');

const ours = fileURLToPath(new URL('systems/lanefold.js', import.meta.url));
const peer = (name: string): Contestant => ({ name, file: path.join(folder, `${name}.js`), usesRedis: false });
const all: Contestant[] = [
  { name: 'lanefold-postgres', file: ours, usesRedis: false },
  { name: 'lanefold-redis', file: ours, usesRedis: true },
  ...['dbos', 'dbos-queue', 'langgraph', 'langgraph-sync'].map(peer),
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '3' },
    'warm-up': { type: 'string', default: '5' },
  },
});

/** The peers have a separate lock file, so that they are installed only for this comparison. */
function installPeers(): void {
  const installed = path.join(folder, 'node_modules/.package-lock.json');
  const lock = path.join(folder, 'package-lock.json');
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  execFileSync('npm', ['ci', '--prefix', folder, '--no-audit', '--no-fund'], { stdio: 'inherit' });
}

const ms = (value: number | undefined) => (value === undefined ? '-' : value.toFixed(2)).padStart(8);
const cpuOf = ({ node, postgres, redis }: Figures, { usesRedis }: Contestant) =>
  postgres === undefined ? undefined : node + postgres + (usesRedis ? (redis ?? 0) : 0);

installPeers();
const servers = await startServers();
try {
  printMachine(servers);
  const contestants = all.filter(
    ({ name, usesRedis }) =>
      (positionals.length === 0 || positionals.includes(name)) && (!usesRedis || servers.redisUrl !== undefined),
  );
  const figuresOf = await sideBySide(servers, contestants, {
    rounds: Number(values.rounds),
    seconds: Number(values.seconds),
    warmUpSeconds: Number(values['warm-up']),
    concurrencies,
  });
  console.log(`\nRuns of three steps (median of ${values.rounds} interleaved rounds); CPU in ms per run`);
  console.log(
    `${'at a time'.padEnd(10)}${'system'.padEnd(20)}${'runs/s'.padStart(8)}${'Node'.padStart(9)}${'PostgreSQL'.padStart(11)}${'Redis'.padStart(9)}${'all'.padStart(9)}`,
  );
  for (const concurrency of concurrencies) {
    for (const contestant of contestants) {
      const figures = figuresOf(contestant, concurrency);
      console.log(
        `${String(concurrency).padEnd(10)}${contestant.name.padEnd(20)}${figures.runsPerSecond.toFixed(1).padStart(8)} ${ms(figures.node)}   ${ms(figures.postgres)} ${ms(contestant.usesRedis ? figures.redis : undefined)} ${ms(cpuOf(figures, contestant))}`,
      );
    }
  }
  console.log(
    '\nLanefold compared with each peer: runs per second (more is better), CPU of Node and of all processes (less is better)',
  );
  for (const own of contestants.filter(({ file }) => file === ours)) {
    for (const other of contestants.filter(({ file }) => file !== ours)) {
      for (const concurrency of concurrencies) {
        const [a, b] = [figuresOf(own, concurrency), figuresOf(other, concurrency)];
        const [cpuA, cpuB] = [cpuOf(a, own), cpuOf(b, other)];
        const cpu = cpuA && cpuB ? `, all CPU ${(cpuA / cpuB).toFixed(2)}` : '';
        console.log(
          `${own.name} / ${other.name}`.padEnd(40) +
            `c=${String(concurrency).padEnd(3)} runs/s ${(a.runsPerSecond / b.runsPerSecond).toFixed(2)}, Node CPU ${(a.node / b.node).toFixed(2)}${cpu}`,
        );
      }
    }
  }
} finally {
  await servers.stop();
}
