import type { Measurement, MeasureOptions } from '../processes/measured.ts';
import type { Servers } from '../setup.ts';
import { median } from './median.ts';
import type { Pauses } from './pauses.ts';
import { startProcess } from './process.ts';
import { readServersCpu, type ServersCpu } from './servers-cpu.ts';

export interface Contestant {
  name: string;
  /** The built module of the system; see `bench/systems/system.ts`. */
  file: string;
  usesRedis: boolean;
  /** Called once with its empty database. */
  prepare?: (databaseUrl: string) => Promise<void>;
  /** Further options of the system. */
  options?: object;
  /** What to measure; default: one run per call, at each concurrency of the plan. */
  loads?: readonly Load[];
}

/** `together`: runs in each call, default 1. */
export type Load = Omit<MeasureOptions, 'seconds'>;

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
  statements?: Record<string, number>;
  /** From the request to the first model call: the runs of all rounds, in milliseconds. */
  firstCallsMs?: number[];
  pauses?: Pauses[];
}

type Sample = Measurement & Partial<ServersCpu>;

/**
 * Measures systems in turn, each in a new process per round and in a separate database. A process measures one
 * concurrency after the other, so all systems run under the same conditions, within seconds of each other.
 *
 * @returns the figures of a contestant at a concurrency, with so many runs together
 */
export async function sideBySide(
  servers: Servers,
  contestants: Contestant[],
  plan: Plan,
): Promise<(contestant: Contestant, concurrency: number, together?: number) => Figures> {
  const samples = new Map<string, Sample[]>();
  const databases = new Map<string, string>();
  for (const { name, prepare } of contestants) {
    const url = await servers.emptyDatabase();
    await prepare?.(url);
    databases.set(name, url);
  }
  for (let round = 0; round < plan.rounds; round++) {
    for (const contestant of round % 2 === 0 ? contestants : contestants.toReversed()) {
      const { name, file, usesRedis, options } = contestant;
      const loads = contestant.loads ?? plan.concurrencies.map((concurrency): Load => ({ concurrency }));
      const concurrency = Math.max(...loads.map((load) => load.concurrency));
      const measured = await startProcess('measured', {
        ...options,
        file,
        databaseUrl: databases.get(name),
        redisUrl: usesRedis ? servers.redisUrl : null,
        concurrency,
      });
      // V8 warms up faster with many concurrent runs
      await measured.ask('measure', { seconds: plan.warmUpSeconds, concurrency });
      for (const load of loads) {
        const key = keyOf(name, load);
        const sample = await withServers(servers, () =>
          measured.ask<Measurement>('measure', { seconds: plan.seconds, ...load }),
        );
        samples.set(key, [...(samples.get(key) ?? []), sample]);
      }
      await measured.stop();
    }
  }
  return ({ name }, concurrency, together) => summary(samples.get(keyOf(name, { concurrency, together }))!);
}

const keyOf = (name: string, { concurrency, together = 1 }: Load): string => `${name} ${concurrency} ${together}`;

async function withServers(servers: Servers, measure: () => Promise<Measurement>): Promise<Sample> {
  const spent = readServersCpu(servers);
  const measured = await measure();
  return { ...measured, ...spent() };
}

function summary(rounds: Sample[]): Figures {
  const of = (read: (sample: Sample) => number) => median(rounds.map(read));
  const [first] = rounds;
  return {
    runsPerSecond: of(({ runs, seconds }) => runs / seconds),
    runsPerSecondOfRounds: rounds.map(({ runs, seconds }) => runs / seconds),
    node: of(({ nodeCpuMs, runs }) => nodeCpuMs / runs),
    ...(first!.postgresCpuMs === undefined ? {} : { postgres: of(({ postgresCpuMs, runs }) => postgresCpuMs! / runs) }),
    ...(first!.redisCpuMs === undefined ? {} : { redis: of(({ redisCpuMs, runs }) => redisCpuMs! / runs) }),
    ...(first!.statements ? { statements: first!.statements } : {}),
    ...(first!.firstCallsMs ? { firstCallsMs: rounds.flatMap(({ firstCallsMs }) => firstCallsMs!) } : {}),
    ...(first!.pauses ? { pauses: rounds.map(({ pauses }) => pauses!) } : {}),
  };
}
