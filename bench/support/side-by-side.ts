import type { Load, Measurement } from '../processes/measured.ts';
import type { Servers } from '../setup.ts';
import { enterAll, start, storedBytes, type Contestant, type Entered } from './contestant.ts';
import { median } from './median.ts';
import type { Pauses } from './pauses.ts';
import { readServersCpu, type ServersCpu } from './servers-cpu.ts';

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
  /** From the request of each run until its end is known: the runs of all rounds, in milliseconds. */
  runsMs: number[];
  /** From the request to the first model call: the runs of all rounds, in milliseconds. */
  firstCallsMs?: number[];
  pauses?: Pauses[];
}

type Sample = Measurement & Partial<ServersCpu>;

/** The figures of a contestant at a concurrency, with so many runs together. */
export type FiguresOf = (contestant: Pick<Contestant, 'name'>, concurrency: number, together?: number) => Figures;

interface Entry extends Entered {
  samples: { load: Load; sample: Sample }[];
  /** All runs, also those of the warm-up. */
  runs: number;
}

/** Lets the contestants enter, and measures them in turn. */
export async function sideBySide(servers: Servers, contestants: Contestant[], plan: Plan): Promise<FiguresOf> {
  return measureInTurn(servers, await enterAll(servers, contestants), plan);
}

/**
 * Measures systems in turn, each in a new process per round and in a separate database. A process measures one
 * concurrency after the other, so all systems run under the same conditions, within seconds of each other.
 */
export async function measureInTurn(servers: Servers, contestants: Entered[], plan: Plan): Promise<FiguresOf> {
  const entries: Entry[] = contestants.map((contestant) => ({ ...contestant, samples: [], runs: 0 }));
  for (let round = 0; round < plan.rounds; round++) {
    for (const entry of round % 2 === 0 ? entries : entries.toReversed()) await measureRound(servers, entry, plan);
  }
  const bytesPerRun = new Map<string, number>();
  for (const entry of entries) {
    const grownBy = (await storedBytes(servers, entry)) - entry.initialBytes;
    bytesPerRun.set(entry.name, grownBy / entry.runs);
  }
  return ({ name }, concurrency, together = 1) => {
    const { samples } = entries.find((entry) => entry.name === name)!;
    const own = samples.filter(({ load }) => load.concurrency === concurrency && (load.together ?? 1) === together);
    return { ...summary(own.map(({ sample }) => sample)), storedBytes: bytesPerRun.get(name)! };
  };
}

async function measureRound(servers: Servers, entry: Entry, plan: Plan): Promise<void> {
  const loads = entry.loads ?? plan.concurrencies.map((concurrency): Load => ({ concurrency }));
  const most = Math.max(...loads.map(({ concurrency }) => concurrency));
  // more slots than runs, so that no run waits for one
  const { measured, serverPid, stop } = await start(servers, entry, 2 * most);
  const measure = async (seconds: number, load: Load) => {
    const measurement = await measured.ask<Measurement>('measure', { seconds, ...load });
    entry.runs += measurement.runs;
    return measurement;
  };
  // V8 warms up faster with many concurrent runs
  await measure(plan.warmUpSeconds, { concurrency: most });
  for (const load of loads) {
    const spent = readServersCpu({ ...servers.pids, server: serverPid });
    const measurement = await measure(plan.seconds, load);
    entry.samples.push({ load, sample: { ...measurement, ...spent() } });
  }
  await stop();
}

function summary(rounds: Sample[]): Omit<Figures, 'storedBytes'> {
  const of = (read: (sample: Sample) => number) => median(rounds.map(read));
  const [first] = rounds;
  return {
    runsPerSecond: of(({ runs, seconds }) => runs / seconds),
    runsPerSecondOfRounds: rounds.map(({ runs, seconds }) => runs / seconds),
    node: of(({ nodeCpuMs, runs }) => nodeCpuMs / runs),
    runsMs: rounds.flatMap(({ runsMs }) => runsMs),
    ...(first!.postgresCpuMs === undefined ? {} : { postgres: of(({ postgresCpuMs, runs }) => postgresCpuMs! / runs) }),
    ...(first!.redisCpuMs === undefined ? {} : { redis: of(({ redisCpuMs, runs }) => redisCpuMs! / runs) }),
    ...(first!.serverCpuMs === undefined ? {} : { server: of(({ serverCpuMs, runs }) => serverCpuMs! / runs) }),
    ...(first!.statements ? { statements: first!.statements } : {}),
    ...(first!.firstCallsMs ? { firstCallsMs: rounds.flatMap(({ firstCallsMs }) => firstCallsMs!) } : {}),
    ...(first!.pauses ? { pauses: rounds.map(({ pauses }) => pauses!) } : {}),
  };
}
