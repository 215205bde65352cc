import { parseArgs } from 'node:util';
import { startServers, type Servers } from './setup.ts';
import { printMachine } from './support/machine.ts';
import { agentLoop } from './agent-loop.ts';
import { backlog } from './backlog.ts';
import { cancel } from './cancel.ts';
import { circuits } from './circuits.ts';
import { fallback } from './fallback.ts';
import { citus } from './citus/index.ts';
import { cpuPerStep } from './cpu.ts';
import { fitting } from './fitting.ts';
import { flame } from './flame/index.ts';
import { floorOfRuns } from './floor/index.ts';
import { forking } from './forks.ts';
import { growth } from './growth.ts';
import { heldSnapshot } from './held/index.ts';
import { limits } from './limits/index.ts';
import { memory } from './memory.ts';
import { pageOf } from './page.ts';
import { reading } from './reading.ts';
import { recovery } from './recovery.ts';
import { retention } from './retention.ts';
import { runCost } from './run-cost.ts';
import { saturation } from './saturation.ts';
import { soak } from './soak/index.ts';
import { start } from './start.ts';
import { storage } from './storage.ts';
import { tails } from './tails/index.ts';
import { telemetryCost } from './telemetry.ts';
import { strategies } from './strategies.ts';
import { tenants } from './tenants.ts';
import { throughput } from './throughput.ts';
import { waiting } from './waiting.ts';
import { webhooks } from './webhooks/index.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** Number of runs for `waiting` and `backlog`, 10,000, and for `page` and `growth`, a million; for `growth`, also several. */
    runs: { type: 'string' },
    /** Of `soak`, default 60; for how long `held` holds the snapshot, default 2. */
    minutes: { type: 'string' },
    /** Options of `soak`. */
    rate: { type: 'string', default: '50' },
    redis: { type: 'boolean', default: false },
    /** Where `soak`, `growth` and `flame` write their drawing, without its ending. */
    out: { type: 'string' },
    /** Part of `agent-loop`, `citus`, `tails` or `limits`; default: all parts. */
    part: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  },
});

const runs = Number(values.runs ?? 10_000);
const benches: Record<string, (servers: Servers) => Promise<void>> = {
  throughput: (servers) => throughput(servers, { runs: 1_000, rounds: 3 }),
  cpu: cpuPerStep,
  telemetry: telemetryCost,
  'run-cost': runCost,
  saturation,
  floor: floorOfRuns,
  held: (servers) => heldSnapshot(servers, { minutes: Number(values.minutes ?? 2) }),
  tails: (servers) => tails(servers, values.part),
  storage,
  tenants,
  limits: (servers) => limits(servers, values.part),
  circuits,
  webhooks,
  reading,
  fitting,
  forks: forking,
  memory,
  start,
  cancel,
  fallback,
  recovery,
  strategies,
  retention: (servers) => retention(servers),
  waiting: (servers) => waiting(servers, { runs }),
  backlog: (servers) => backlog(servers, { runs }),
};
/** Run only by name: they take long, or need what is not available everywhere. */
const onRequest: typeof benches = {
  'agent-loop': (servers) => agentLoop(servers, values.part),
  flame: (servers) => flame(servers, values.out ?? '.lanefold/flame'),
  growth: (servers) =>
    growth(servers, { runs: (values.runs ?? '1000000').split(',').map(Number), out: values.out ?? '.lanefold/growth' }),
  page: (servers) => pageOf(servers, { runs: Number(values.runs ?? 1_000_000) }),
  soak: (servers) => {
    const { minutes, rate, redis, out = '.lanefold/soak' } = values;
    return soak(servers, { minutes: Number(minutes ?? 60), runsPerSecond: Number(rate), redis, out });
  },
  citus: (servers) => citus(servers, values.part),
};
const all = { ...benches, ...onRequest };

if (values.help) {
  console.log(`npm run bench [-- ${Object.keys(benches).join('|')} …] [--runs 10000] [--minutes 2]
npm run bench -- tails [--part first-call|large-contexts|streams]
npm run bench -- limits [--part cost|waits|fairness|provider|killed]
npm run bench -- agent-loop [--part own]
npm run bench -- page [--runs 1000000]
npm run bench -- flame [--out docs/images/flame]
npm run bench -- growth [--runs 100000,1000000] [--out docs/images/growth]
npm run bench -- soak [--minutes 60] [--rate 50] [--redis] [--out docs/images/soak]
LANEFOLD_CITUS=… npm run bench -- citus [--part latency|moving|beside-plain|by-nodes]`);
  process.exit();
}
const unknown = positionals.find((name) => !(name in all));
if (unknown) throw new Error(`Benchmark "${unknown}" does not exist; choose from ${Object.keys(all).join(', ')}.`);
const selected = positionals.length > 0 ? positionals : Object.keys(benches);

const servers = await startServers();
try {
  printMachine(servers);
  for (const name of selected) await all[name]!(servers);
} finally {
  await servers.stop();
}
