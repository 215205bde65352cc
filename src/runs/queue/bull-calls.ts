import { taking } from './taking/known-queue.ts';
import { createPostgresBackend, createRedisBackend, withBackend } from 'bullmq';
import { asHere, asThere, type Clock } from '../../base/common/timer.ts';

/** What BullMQ asks for with a statement: one of its functions, or a file that it keeps a statement in. */
type BullCall =
  | 'move_to_active'
  | 'move_to_completed'
  | 'move_to_completed_fetch'
  | 'move_to_failed'
  | 'move_to_failed_fetch'
  | 'has_waiting_job'
  | 'next_delay'
  | 'next_signal'
  | 'extend_locks';

// eslint-disable-next-line regexp/no-super-linear-backtracking -- reads statements that BullMQ has in its package
const called = /\bselect\s+(?:[\w, *]+\sfrom\s+)?(\w+)\s*\(/i;
/* eslint-disable regexp/no-super-linear-move -- the same */
const withoutFunction: [BullCall, RegExp][] = [
  ['has_waiting_job', /^\s*exists\(\s*select 1 from job where queue = \$1 and state = 'waiting'\s*\)/im],
  ['extend_locks', /^\s*update job\s+set locked_until_ms = /im],
];
/* eslint-enable regexp/no-super-linear-move */
const calls = new Map<string, string | undefined>();

/** What a statement of BullMQ's asks for; any other text has another name or none. BullMQ sends few texts. */
export function bullCall(text: string): BullCall | undefined {
  if (!calls.has(text))
    calls.set(text, withoutFunction.find(([, part]) => part.test(text))?.[0] ?? called.exec(text)?.[1]);
  return calls.get(text) as BullCall | undefined;
}

/** The end of a job that BullMQ asks for. */
export interface End {
  outcome: Outcome;
  job: EndedJob;
  /** Arguments of `move_to_active` for the next job. */
  next: unknown[] | undefined;
}

/** Reads the arguments of `move_to_completed`, `move_to_failed` and the same with `_fetch`; undefined if the job is not kept. */
export function endOf(call: BullCall, values: unknown[]): End | undefined {
  const [queue, id, token] = values as [string, string, string];
  const outcome = call.startsWith('move_to_failed') ? 'failed' : 'completed';
  const result =
    outcome === 'completed'
      ? { value: values[3] as string }
      : { reason: values[3] as string | null, stacktrace: values[4] as string | null };
  const [at, removes, keepAge, keepCount, ...next] = values.slice(outcome === 'completed' ? 4 : 5);
  if (removes === true || keepAge !== null || keepCount !== null) return undefined;
  return {
    outcome,
    job: { queue, id, token, at: at as number, ...result },
    next: call.endsWith('_fetch') ? [queue, token, ...next] : undefined,
  };
}

// Statements that end many jobs of BullMQ's queue in PostgreSQL, for `GatheringPool`. Their first argument is a JSON array
// of `EndedJob`, and each row has the number of its job in it.

export type Outcome = 'completed' | 'failed';

/** A job to be ended: plain, without a parent, deduplication or its own retention, which ours never have. */
export interface EndedJob {
  queue: string;
  id: string;
  token: string;
  at: number;
  /** JSON. */
  value?: string;
  reason?: string | null;
  /** JSON. */
  stacktrace?: string | null;
  /** Set for a job that frees a slot: takes the next job under the same token. */
  next?: { lock_ms: number; now: number; name: string | null };
}

const outcomes: Record<Outcome, { set: string; events: string }> = {
  completed: {
    set: `state = 'completed', return_value = h.value::jsonb`,
    events: `publish_event(e.queue, 'completed', jsonb_build_object('jobId', e.id,
      'returnvalue', coalesce(e.value::jsonb, 'null'::jsonb)::text, 'prev', 'active')) as ended_event`,
  },
  failed: {
    set: `state = 'failed', failed_reason = h.reason, stacktrace = coalesce(h.stacktrace::jsonb, j.stacktrace), deferred_failure = null`,
    events: `publish_event(e.queue, 'failed', jsonb_build_object('jobId', e.id, 'failedReason', e.reason, 'prev', 'active')) as ended_event,
      publish_event(e.queue, 'retries-exhausted', jsonb_build_object('jobId', e.id, 'attemptsMade', e.attempts_made)) as last_event`,
  },
};

/**
 * Ends jobs. Waits for no job that another statement has locked, so that two batches, or a batch and a renewal, cannot
 * deadlock. Does not look for other active or waiting jobs to announce that the queue is drained: while a transaction keeps
 * its snapshot, that would read the index entries of all jobs that have ended since. For the same reason, `state` is
 * compared as text: else the plan may use the index of active jobs.
 */
const ended = ({ set, events }: { set: string; events: string }): string => `with c as materialized (
    select c.* from rows from (
      jsonb_to_recordset($1::jsonb) as (queue text, id text, token text, at bigint, value text, reason text, stacktrace text, next jsonb)
    ) with ordinality as c (queue, id, token, at, value, reason, stacktrace, next, call)
  ), guarded as materialized (
    select pg_advisory_xact_lock_shared(hashtext('bullmq:finalization'), hashtext(q.queue)) from (select distinct queue from c) q
  ), held as materialized (
    select c.* from c
    cross join (select count(*) from guarded) g
    cross join lateral (
      select from job j where j.queue = c.queue and j.id = c.id and j.state::text = 'active' and j.lock_token = c.token
        and j.parent_id is null and j.dedup_id is null for update skip locked) j
  ), ended as (
    update job j
    set ${set}, finished_at_ms = h.at, lock_token = null, locked_until_ms = null, attempts_made = j.attempts_made + 1
    from held h where j.queue = h.queue and j.id = h.id
    returning h.*, j.attempts_made
  ), told as materialized (
    select e.*, ${events} from ended e
  )`;

/** As `move_to_completed` or `move_to_failed`. */
const endJobs = (outcome: Outcome): string =>
  `/* end_${outcome} */ ${ended(outcomes[outcome])} select t.call as asked, t.at as move_to_${outcome} from told t`;

/**
 * As `move_to_completed_fetch` or `move_to_failed_fetch`, but takes jobs from the floor in $2. A row without an id: nothing
 * was taken. All jobs are of the same queue.
 */
const endAndTake = (outcome: Outcome): string => `${ended(outcomes[outcome])}, wanted as materialized (
    select call, queue, token, (next ->> 'lock_ms')::bigint as lock_ms, (next ->> 'now')::bigint as now, next ->> 'name' as name
    from told where jsonb_typeof(next) = 'object'
  ), ${taking}
  select e.call as asked, g.limited, g.last_seq, t.*
  from told e left join wanted w using (call) left join target g on w.call is not null left join taken_and_told t using (call)`;

export const statements: Record<Outcome, { end: string; endAndTake: string }> = {
  completed: { end: endJobs('completed'), endAndTake: endAndTake('completed') },
  failed: { end: endJobs('failed'), endAndTake: endAndTake('failed') },
};

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
