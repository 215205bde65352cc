import type { Measurement } from '../processes/measured.ts';
import type { Servers } from '../setup.ts';
import { enterAll, start, storedBytes, type Contestant, type Entered } from './contestant.ts';
import { treeCpuMs } from './cpu.ts';
import { median } from './median.ts';

export type { Contestant };

export interface Plan {
  /** Each round measures every contestant once, alternating the order, so that none is always last. */
  rounds: number;
  seconds: number;
  warmUpSeconds: number;
  concurrencies: readonly number[];
}

/** Medians over the rounds. CPU times in milliseconds per run; absent for the servers on systems without `/proc`. */
export interface Figures {
  runsPerSecond: number;
  /** In the order of the rounds, to compare systems round by round. */
  runsPerSecondOfRounds: number[];
  node: number;
  postgres?: number;
  redis?: number;
  /** The system's own server. */
  server?: number;
  /** Growth of its stored data per run, in bytes, over all measurements. */
  storedBytes: number;
  statements?: Record<string, number>;
  firstCallMs?: number;
}

type Sample = Measurement & { postgresCpuMs?: number; redisCpuMs?: number; serverCpuMs?: number };

interface Entry extends Entered {
  samples: { concurrency: number; sample: Sample }[];
  /** All runs, also those of the warm-up. */
  runs: number;
}

/** @returns the figures of a contestant at a concurrency */
export async function sideBySide(
  servers: Servers,
  contestants: Contestant[],
  plan: Plan,
): Promise<(contestant: Contestant, concurrency: number) => Figures> {
  return measureInTurn(servers, await enterAll(servers, contestants), plan);
}

/**
 * Measures systems in turn, each in a new process per round and in a separate database. A process measures one
 * concurrency after the other, so all systems run under the same conditions, within seconds of each other.
 *
 * @returns the figures of a contestant at a concurrency
 */
export async function measureInTurn(
  servers: Servers,
  contestants: Entered[],
  plan: Plan,
): Promise<(contestant: Contestant, concurrency: number) => Figures> {
  const entries: Entry[] = contestants.map((contestant) => ({ ...contestant, samples: [], runs: 0 }));
  for (let round = 0; round < plan.rounds; round++) {
    for (const entry of round % 2 === 0 ? entries : entries.toReversed()) await measureRound(servers, entry, plan);
  }
  const bytesPerRun = new Map<string, number>();
  for (const entry of entries) {
    const grownBy = (await storedBytes(servers, entry)) - entry.initialBytes;
    bytesPerRun.set(entry.name, grownBy / entry.runs);
  }
  return ({ name }, concurrency) => {
    const { samples } = entries.find((entry) => entry.name === name)!;
    const ofConcurrency = samples.filter((one) => one.concurrency === concurrency);
    return { ...summary(ofConcurrency.map(({ sample }) => sample)), storedBytes: bytesPerRun.get(name)! };
  };
}

async function measureRound(servers: Servers, entry: Entry, plan: Plan): Promise<void> {
  const most = Math.max(...plan.concurrencies);
  const { measured, serverPid, stop } = await start(servers, entry, most);
  const measure = async (seconds: number, concurrency: number) => {
    const measurement = await measured.ask<Measurement>('measure', { seconds, concurrency });
    entry.runs += measurement.runs;
    return measurement;
  };
  // V8 warms up faster with many concurrent runs
  await measure(plan.warmUpSeconds, most);
  for (const concurrency of plan.concurrencies) {
    const sample = await withServers({ ...servers.pids, server: serverPid }, () => measure(plan.seconds, concurrency));
    entry.samples.push({ concurrency, sample });
  }
  await stop();
}

async function withServers(
  pids: Servers['pids'] & { server: number | undefined },
  measure: () => Promise<Measurement>,
): Promise<Sample> {
  const read = () => ({
    postgres: treeCpuMs(pids.postgres),
    redis: pids.redis && treeCpuMs(pids.redis),
    server: pids.server && treeCpuMs(pids.server),
  });
  const before = read();
  const measured = await measure();
  const after = read();
  return {
    ...measured,
    ...(after.postgres && before.postgres ? { postgresCpuMs: after.postgres - before.postgres } : {}),
    ...(after.redis && before.redis ? { redisCpuMs: after.redis - before.redis } : {}),
    ...(after.server && before.server ? { serverCpuMs: after.server - before.server } : {}),
  };
}

function summary(rounds: Sample[]): Omit<Figures, 'storedBytes'> {
  const of = (read: (sample: Sample) => number) => median(rounds.map(read));
  const [first] = rounds;
  return {
    runsPerSecond: of(({ runs, seconds }) => runs / seconds),
    runsPerSecondOfRounds: rounds.map(({ runs, seconds }) => runs / seconds),
    node: of(({ nodeCpuMs, runs }) => nodeCpuMs / runs),
    ...(first!.postgresCpuMs === undefined ? {} : { postgres: of(({ postgresCpuMs, runs }) => postgresCpuMs! / runs) }),
    ...(first!.redisCpuMs === undefined ? {} : { redis: of(({ redisCpuMs, runs }) => redisCpuMs! / runs) }),
    ...(first!.serverCpuMs === undefined ? {} : { server: of(({ serverCpuMs, runs }) => serverCpuMs! / runs) }),
    ...(first!.statements ? { statements: first!.statements } : {}),
    ...(first!.firstCallMs === undefined ? {} : { firstCallMs: of(({ firstCallMs }) => firstCallMs!) }),
  };
}
