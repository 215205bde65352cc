import type { Measurement } from '../processes/measured.ts';
import type { Servers } from '../setup.ts';
import { treeCpuMs } from './cpu.ts';
import { median } from './median.ts';
import { startProcess } from './process.ts';

export interface Contestant {
  name: string;
  /** The built module of the system; see `bench/systems/system.ts`. */
  file: string;
  usesRedis: boolean;
  /** Called once with its empty database. */
  prepare?: (databaseUrl: string) => Promise<void>;
}

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
  firstCallMs?: number;
}

type Sample = Measurement & { postgresCpuMs?: number; redisCpuMs?: number };

/**
 * Measures systems in turn, each in a new process per round and in a separate database. A process measures one
 * concurrency after the other, so all systems run under the same conditions, within seconds of each other.
 *
 * @returns the figures of a contestant at a concurrency
 */
export async function sideBySide(
  servers: Servers,
  contestants: Contestant[],
  plan: Plan,
): Promise<(contestant: Contestant, concurrency: number) => Figures> {
  const samples = new Map<string, Sample[]>();
  const databases = new Map<string, string>();
  for (const { name, prepare } of contestants) {
    const url = await servers.emptyDatabase();
    await prepare?.(url);
    databases.set(name, url);
  }
  for (let round = 0; round < plan.rounds; round++) {
    for (const { name, file, usesRedis } of round % 2 === 0 ? contestants : contestants.toReversed()) {
      const measured = await startProcess('measured', {
        file,
        databaseUrl: databases.get(name),
        redisUrl: usesRedis ? servers.redisUrl : null,
        concurrency: Math.max(...plan.concurrencies),
      });
      // V8 warms up faster with many concurrent runs
      await measured.ask('measure', { seconds: plan.warmUpSeconds, concurrency: Math.max(...plan.concurrencies) });
      for (const concurrency of plan.concurrencies) {
        const key = `${name} ${concurrency}`;
        const sample = await withServers(servers, () =>
          measured.ask<Measurement>('measure', { seconds: plan.seconds, concurrency }),
        );
        samples.set(key, [...(samples.get(key) ?? []), sample]);
      }
      await measured.stop();
    }
  }
  return ({ name }, concurrency) => summary(samples.get(`${name} ${concurrency}`)!);
}

async function withServers(servers: Servers, measure: () => Promise<Measurement>): Promise<Sample> {
  const read = () => ({
    postgres: treeCpuMs(servers.pids.postgres),
    redis: servers.pids.redis && treeCpuMs(servers.pids.redis),
  });
  const before = read();
  const measured = await measure();
  const after = read();
  return {
    ...measured,
    ...(after.postgres && before.postgres ? { postgresCpuMs: after.postgres - before.postgres } : {}),
    ...(after.redis && before.redis ? { redisCpuMs: after.redis - before.redis } : {}),
  };
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
    ...(first!.firstCallMs === undefined ? {} : { firstCallMs: of(({ firstCallMs }) => firstCallMs!) }),
  };
}
