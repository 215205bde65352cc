import type { BenchReport, Level, Suggestion } from './report.ts';

type Figures = Pick<BenchReport, 'queue' | 'machine' | 'postgres' | 'levels'>;

/** A run of two model calls of five seconds, which is what most runs wait for. */
const runSeconds = 10;
const defaultPool = 10;
/** Shares of a limit from which on it is worth a suggestion. */
const high = 0.8;
const half = 0.5;

/** Suggests settings for the measured servers, each with the figures that it follows from. */
export function suggest(figures: Figures): Suggestion[] {
  const best = figures.levels.reduce((a, b) => (b.runs_per_second > a.runs_per_second ? b : a));
  return [
    concurrency(best),
    pool(figures.levels),
    connections(figures),
    queue(figures, best),
    ...latency(figures),
    ...durability(figures),
    ...memory(figures),
  ];
}

function concurrency({ concurrency: most, runs_per_second: carried, per_run }: Level): Suggestion {
  const ofProcess = (half * 1_000) / per_run.cpu_ms;
  const runsPerSecond = Math.min(ofProcess, carried);
  const places = Math.min(1_000, Math.max(20, Math.floor((runsPerSecond * runSeconds) / 10) * 10));
  return {
    about: 'concurrency',
    advice: `lanefold worker --concurrency ${places}`,
    reason:
      `A run takes ${ms(per_run.cpu_ms)} of CPU here, for client and worker, so half of a core executes ${whole(ofProcess)} runs/s; ` +
      `${whole(carried)} were reached at ${most} at a time. If a run waits ${runSeconds} s for its models, ${places} at a time are ` +
      `${whole(places / runSeconds)} runs/s. Beyond 1,000, start another worker, so that a crash interrupts fewer runs.`,
  };
}

function pool(levels: readonly Level[]): Suggestion {
  const busiest = levels.reduce((a, b) => (b.connections.busy > a.connections.busy ? b : a));
  const full = busiest.connections.busy >= high * defaultPool;
  return {
    about: 'pool',
    advice: full ? `poolSize: ${2 * defaultPool}` : `poolSize: ${defaultPool}, the default`,
    reason:
      `At ${busiest.concurrency} runs at a time, at most ${busiest.connections.busy} of ${defaultPool} connections were executing a statement when looked at` +
      (full ? ', so writes may have waited for one.' : '. Writes of concurrent runs share statements.'),
  };
}

function connections({ postgres, levels }: Figures): Suggestion {
  const each = Math.max(...levels.map((level) => level.connections.open));
  const processes = Math.floor((high * postgres.max_connections - postgres.open_connections) / each);
  return {
    about: 'connections',
    advice:
      processes < 1 ? 'use PgBouncer, or raise max_connections' : `up to ${processes} processes without PgBouncer`,
    reason:
      `This process, client and worker, had up to ${each} connections open; ` +
      `of max_connections = ${postgres.max_connections}, ${postgres.open_connections} were in use, and a fifth is left in reserve.`,
  };
}

function queue({ queue, machine }: Figures, best: Level): Suggestion {
  const perDay = whole((best.runs_per_second * 86_400) / 1e6);
  const carried = `This server carried ${whole(best.runs_per_second)} runs/s at ${best.concurrency} at a time, ${perDay} million a day`;
  const { postgres_cpu_ms: spent } = best.per_run;
  const share = spent === null ? undefined : (spent * best.runs_per_second) / 1_000 / machine.cpus;
  const used = spent === null ? '' : `, with ${ms(spent)} of its CPU per run (${whole(share! * 100)} % of all cores)`;
  if (queue === 'redis')
    return {
      about: 'queue',
      advice: 'Redis, if you need this many runs',
      reason: `${carried}${used}. Measure without REDIS_URL as well: if that is enough, you have one server less to operate.`,
    };
  const full = share !== undefined && share > half;
  return {
    about: 'queue',
    advice: 'PostgreSQL, until you need more runs than this',
    reason: `${carried}${used}. ${full ? 'PostgreSQL is what limits it: with' : 'With'} REDIS_URL set, Redis does the work of the queue.`,
  };
}

function latency({ postgres, levels }: Figures): Suggestion[] {
  const slowest = levels.reduce((a, b) => (b.concurrency < a.concurrency ? b : a));
  const alone = (1_000 * slowest.concurrency) / slowest.runs_per_second;
  const trip = postgres.round_trip_ms.p50;
  const disk = Math.max(0, postgres.commit_ms.p50 - trip);
  const found: Suggestion[] = [];
  if (trip > 2)
    found.push({
      about: 'network',
      advice: 'run workers nearer to the database',
      reason: `A round trip takes ${ms(trip)}, and a run makes at least four, one after the other.`,
    });
  if (disk > 2)
    found.push({
      about: 'disk',
      advice: 'a disk, or replication, that acknowledges commits sooner',
      reason:
        `A commit waits ${ms(disk)} for it (p50), and a run for at least four; at ${slowest.concurrency} at a time, a run took ${ms(alone)}. ` +
        'Concurrent runs share commits, so this costs time and little throughput. Leave synchronous_commit on.',
    });
  return found;
}

function durability({ postgres }: Figures): Suggestion[] {
  const unsafe = [
    ...(postgres.fsync === 'off' ? ['fsync = off'] : []),
    ...(postgres.synchronous_commit === 'off' ? ['synchronous_commit = off'] : []),
  ];
  if (unsafe.length === 0) return [];
  return [
    {
      about: 'durability',
      advice: `turn on ${unsafe.map((setting) => setting.split(' ')[0]).join(' and ')}`,
      reason: `With ${unsafe.join(' and ')}, a crash of the server loses runs that were acknowledged. The figures are better than they will be with it on.`,
    },
  ];
}

function memory({ postgres }: Figures): Suggestion[] {
  if (postgres.shared_buffers !== '128MB') return [];
  return [
    {
      about: 'memory',
      advice: 'shared_buffers of a quarter of the memory',
      reason: 'It is 128MB, the default of PostgreSQL. The indexes of the log and the runs are read at every step.',
    },
  ];
}

const ms = (value: number): string => `${value < 10 ? value.toFixed(2) : value.toFixed(0)} ms`;
const whole = (value: number): string => (value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString('en'));
