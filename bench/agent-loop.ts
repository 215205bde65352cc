import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { available } from './comparison/available.ts';
import { peers } from './comparison/contestants.ts';
import { installPeers, peersFolder } from './comparison/install.ts';
import workloads from './peers/workloads.json' with { type: 'json' };
import type { Servers } from './setup.ts';
import { enterAll, type Contestant } from './support/contestant.ts';
import { quantile } from './support/median.ts';
import { measureInTurn, type Figures } from './support/side-by-side.ts';

const workload = 'agent-loop';
/** The second one also warms V8 up, before anything is measured. */
const concurrencies = [1, 20];
const { rounds, modelMs, toolMs } = workloads[workload];
const workMs = (rounds + 1) * modelMs + rounds * toolMs;

const file = fileURLToPath(new URL('systems/agent-loop.js', import.meta.url));
const ours = (usesRedis: boolean, reader: boolean, replay: 'safe' | 'readOnly'): Contestant => ({
  name: `lanefold-${usesRedis ? 'redis' : 'postgres'}${replay === 'safe' ? '' : ', reads'}${reader ? ', read' : ''}`,
  file,
  usesRedis,
  options: { workload, reader, replay },
});
/** Plain code, and plain code that commits each of its steps. */
const floors = [
  { name: 'no system', file: path.join(peersFolder, 'plain.js'), usesRedis: false },
  { name: 'commits alone', file: path.join(peersFolder, 'rows.js'), usesRedis: false },
];
/** Whose steps are durable. */
const durable = ['dbos', 'restate-service', 'workflow', 'langgraph-sync', 'mastra'];

/**
 * What systems add to an agent loop of 900 ms: five model calls of 100 ms, between which two tools of 100 ms
 * answer at the same time; payloads have 1 KiB. The loop is that of the benchmark that Vercel published for its Workflow SDK.
 *
 * @param part `own`: without other systems
 */
export async function agentLoop(servers: Servers, part?: string): Promise<void> {
  installPeers();
  const own = [false, true]
    .filter((usesRedis) => !usesRedis || servers.redisUrl !== undefined)
    .flatMap((usesRedis) =>
      [false, true].flatMap((reader) => [ours(usesRedis, reader, 'safe'), ours(usesRedis, reader, 'readOnly')]),
    );
  const others = [...floors, ...(part === 'own' ? [] : peers.filter(({ name }) => durable.includes(name)))];
  const contestants = [
    ...(await enterAll(servers, own)),
    ...(await available(
      servers,
      others.map((peer) => ({ ...peer, options: { workload } })),
    )),
  ];
  const figuresOf = await measureInTurn(servers, contestants, {
    rounds: 3,
    seconds: 6,
    warmUpSeconds: 5,
    concurrencies,
  });
  for (const concurrency of concurrencies) {
    console.log(`\nAn agent loop of ${workMs} ms, ${concurrency} at a time: ms beyond its work, and ms of CPU per run`);
    console.log('system                        runs     p50     p95 p95/p50    Node     all');
    for (const contestant of contestants) print(contestant, figuresOf(contestant, concurrency));
  }
}

function print({ name, usesRedis }: Contestant, { runsMs, node, postgres = 0, redis = 0, server = 0 }: Figures): void {
  const [p50, p95] = [0.5, 0.95].map((share) => quantile(runsMs, share) - workMs) as [number, number];
  const all = node + postgres + server + (usesRedis ? redis : 0);
  const cells = [p50.toFixed(1), p95.toFixed(1), (p95 / p50).toFixed(2), node.toFixed(1), all.toFixed(1)];
  console.log(
    `${name.padEnd(27)}${String(runsMs.length).padStart(7)}${cells.map((cell) => cell.padStart(8)).join('')}`,
  );
}
