import { createPostgresBackend, createRedisBackend, withBackend } from 'bullmq';
import { asHere, asThere, type Clock } from '../../base/common/timer.ts';

type Factory = typeof createRedisBackend;

/**
 * BullMQ's classes for a backend. Both backends have the same ones except for the type of the connection. BullMQ reads the
 * clock of its process: what it writes to the queue as a time, and reads from there, is converted, so that all processes
 * agree in `clock` on which jobs are due and which locks have expired.
 */
export const bullClasses = (backend: 'redis' | 'postgres', clock: Clock) =>
  withBackend(backend === 'redis' ? redisBy(clock) : postgresBy(clock));

/** The parts of BullMQ's backends that they keep to themselves; `test/queue/clock.test.ts` checks them. */
interface RedisInside {
  execCommand(client: unknown, command: string, args: unknown[]): Promise<unknown>;
}
interface PostgresInside {
  run(command: string, values: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
}

const redisBy = (clock: Clock): Factory =>
  ((...given) => {
    const backend = createRedisBackend(...given);
    const inside = backend as unknown as RedisInside;
    const execute = inside.execCommand.bind(backend);
    const wait = backend.waitForJob.bind(backend);
    inside.execCommand = async (client, command, args) => {
      const answer = await execute(client, command, args.map(toQueue(clock)));
      return Array.isArray(answer) ? answer.map(fromQueue(clock)) : answer;
    };
    backend.waitForJob = async (seconds) => {
      const job = await wait(seconds);
      return job && { ...job, score: fromQueue(clock)(job.score) };
    };
    return backend;
  }) as Factory;

const postgresBy = (clock: Clock): Factory =>
  ((...given: Parameters<typeof createPostgresBackend>) => {
    const backend = createPostgresBackend(...given);
    const inside = backend as unknown as PostgresInside;
    const run = inside.run.bind(backend);
    inside.run = async (command, values) => {
      // an added job has its time already: see `addJobs`
      const answer = await run(command, /^add_/.test(command) ? values : values.map(toQueue(clock)));
      const [row] = answer.rows;
      if (row && 'next_delay' in row)
        row['next_delay'] = fromQueue(clock)(row['next_delay'] && Number(row['next_delay']));
      return answer;
    };
    return backend;
  }) as unknown as Factory;

/** A number from here on is a time: durations, priorities and numbers of jobs are smaller. */
const firstTimeMs = 1e12;

const isTime = (value: unknown): value is number => typeof value === 'number' && value >= firstTimeMs;

const toQueue =
  (clock: Clock) =>
  <T>(value: T): T =>
    isTime(value) ? (Math.round(asThere(clock, value)) as T) : value;

const fromQueue =
  (clock: Clock) =>
  <T>(value: T): T =>
    isTime(value) ? (Math.ceil(asHere(clock, value)) as T) : value;

/**
 * Options of a queue. On PostgreSQL, BullMQ drops no events: it would search for them from the first one on, past all that
 * it has dropped before. Workers trim them: see `eventTrimmer`.
 */
export const keepsEvents = (backend: 'redis' | 'postgres') =>
  backend === 'postgres' ? { streams: { events: { maxLen: 0 } } } : {};
