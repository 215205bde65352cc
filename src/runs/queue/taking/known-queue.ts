import type { Clock } from '../../../base/common/timer.ts';

// Statements that read BullMQ's queue in PostgreSQL from a floor ($2): see `Floor`. What they find, BullMQ's own functions
// would find too; what they do not find is left to those.

/**
 * Takes the next job for each row of `wanted (call, queue, token, lock_ms, now, name)`, as `move_to_active`. All rows name
 * the same queue. It takes none if the queue is paused or has a limit, which only BullMQ's function can observe. The jobs
 * at the front come first: their numbers are negative.
 */
export const taking = `target as materialized (
    select q.queue, q.calls, pg_sequence_last_value('job_seq') as last_seq, exists (
        select from meta m where m.queue = q.queue and (m.field in ('concurrency', 'max') or m.field = 'paused' and m.value = '1')
      ) as limited
    from (select queue, count(*) as calls from wanted group by queue) q
  ), front as materialized (
    select j.* from target g cross join lateral (
      select j.id, j.seq from job j where j.queue = g.queue and j.state = 'waiting' and j.priority = 0 and j.seq < -$2::bigint
      order by j.seq limit g.calls for update skip locked) j
    where not g.limited
  ), back as materialized (
    select j.* from target g cross join lateral (
      select j.id, j.seq from job j where j.queue = g.queue and j.state = 'waiting' and j.priority = 0 and j.seq > $2::bigint
      order by j.seq limit g.calls - (select count(*) from front) for update skip locked) j
    where not g.limited
  ), matched as materialized (
    select w.*, f.id
    from (select *, row_number() over (order by call) as turn from wanted) w
    join (select id, row_number() over (order by seq) as turn from (select * from front union all select * from back) f) f using (turn)
  ), taken as (
    update job j
    set state = 'active', lock_token = m.token, locked_until_ms = m.now + m.lock_ms, processed_at_ms = m.now,
        processed_by = m.name, attempts_started = j.attempts_started + 1
    from matched m where j.queue = m.queue and j.id = m.id
    returning m.call, j.*
  ), taken_and_told as (
    select t.*, publish_event(t.queue, 'active', jsonb_build_object('jobId', t.id, 'prev', 'waiting')) as event from taken t
  )`;

/** As `move_to_active` with $1 as a JSON array of its arguments; one row for each. Without an id: nothing was taken. */
export const takeJobs = `/* take_jobs */ with wanted as materialized (
    select call, args ->> 0 as queue, args ->> 1 as token, (args ->> 2)::bigint as lock_ms, (args ->> 3)::bigint as now, args ->> 4 as name
    from jsonb_array_elements($1::jsonb) with ordinality as a (args, call)
  ), ${taking}
  select w.call as asked, g.limited, g.last_seq, t.* from wanted w cross join target g left join taken_and_told t using (call)`;

/** As BullMQ's question whether a job waits. */
export const hasWaiting = `/* has_waiting */ select (
    exists (select from job where queue = $1 and state = 'waiting' and priority = 0 and seq > $2::bigint)
    or exists (select from job where queue = $1 and state = 'waiting' and priority = 0 and seq < -$2::bigint)
  ) and not exists (select from meta where queue = $1 and field = 'paused' and value = '1') as present`;

const nextDelayed = (since: string) =>
  `(select min(process_at_ms) from job where queue = $1 and state = 'delayed' and process_at_ms > ${since}::bigint) as next_delay`;

/** As `next_delay`, for jobs that are due after $2. */
export const nextDelay = `/* next_delay */ select ${nextDelayed('$2')}`;

/** As `next_signal`, for jobs that are due after $4. */
export const nextSignal = `/* next_signal */ select rate_limit_effective($1, $2, $3) as rate_limit_ttl, ${nextDelayed('$4')}`;

/**
 * How much later than a job behind it a job may become visible and still be taken in its turn: a transaction that takes
 * its number earlier may commit later.
 */
export const lagMs = 200;

/** What a statement that took jobs has seen. */
interface Scan {
  /** When it was sent. */
  startedAt: number;
  /** It has left no job without a priority up to this number; Infinity: none at all. */
  clearTo: number;
  /** The highest number given to any job so far. */
  lastSeq: number;
}

/**
 * The number from which a queue has to be read. While a transaction keeps its snapshot, the index still has the entries
 * of all jobs that waited before, and a search from the beginning reads them one by one. The numbers of jobs added to the
 * front are negative, in the same order of time, so one floor serves both ends.
 *
 * A scan only proposes a floor. A later scan that still begins below it has to confirm that nothing came after all.
 */
export class Floor {
  #seq = 0;
  #raisedAt = 0;
  #proposed: { seq: number; at: number } | undefined;

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Jobs whose number, without its sign, is higher are found by a search from here. */
  get seq(): number {
    return this.#seq;
  }

  /** Whether a search from here finds a job, and every other one without a priority comes behind it. */
  leadsTo({ priority, seq }: { priority: number; seq: number }): boolean {
    return priority === 0 && seq > this.#seq;
  }

  raise({ startedAt, clearTo, lastSeq }: Scan): void {
    if (lastSeq > 0 && lastSeq < this.#seq && startedAt > this.#raisedAt) {
      // a failover or a restore has lost the numbers of some jobs, and they are given again
      this.#seq = 0;
      this.#proposed = undefined;
    }
    const proposed = this.#proposed;
    if (proposed && startedAt >= proposed.at + lagMs && clearTo >= proposed.seq) {
      this.#seq = proposed.seq;
      this.#raisedAt = this.now();
      this.#proposed = undefined;
    }
    const seq = Math.min(clearTo, lastSeq);
    if (!this.#proposed && seq > this.#seq) this.#proposed = { seq, at: this.now() };
  }
}

/** Pause between two looks, as a multiple of how long the last one took: looking takes a twentieth of the time. */
const pauses = 20;
/** The longest pause, however slow a look is. */
export const maxPauseMs = 10_000;

/**
 * Decides when to look at a whole queue, which finds every job, but reads the entries of all earlier ones. A look that
 * finds what only a look can find is followed by another one at once.
 */
export class Looks {
  #dueAt = 0;
  #isLooking = false;
  #hasMore = false;

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Whether a look is due, which the caller then has to take with `take`, or give up with `giveUp`. */
  begin(): boolean {
    if (!this.#hasMore && (this.#isLooking || this.now() < this.#dueAt)) return false;
    this.#isLooking = true;
    return true;
  }

  /** Takes a look that has begun. `hasMore`: tells from its result whether another look would find more. */
  async take<Result>(look: () => Promise<Result>, hasMore: (result: Result) => boolean): Promise<Result> {
    const startedAt = this.now();
    try {
      const result = await look();
      this.#hasMore = hasMore(result);
      return result;
    } catch (error) {
      this.#hasMore = false;
      throw error;
    } finally {
      this.#isLooking = false;
      const now = this.now();
      this.#dueAt = now + Math.min(pauses * (now - startedAt), maxPauseMs);
    }
  }

  giveUp(): void {
    this.#isLooking = false;
  }

  /** Time until the next look is due, in ms; an estimate while one is being taken. */
  get dueInMs(): number {
    if (this.#hasMore) return 0;
    return Math.max(this.#dueAt - this.now(), this.#isLooking ? 10 : 0);
  }
}

export type Row = Record<string, unknown>;
export type Result = Promise<{ rows: Row[] }>;
export type Send = (text: string, values: unknown[]) => Result;
/** Sends a statement of BullMQ's as it is. */
export type AsBullMq = () => Result;

/** How late a delayed job may be added and still be noticed in time, in ms. */
const delayedLagMs = 5_000;

/**
 * What a pool knows of a queue. While a transaction keeps its snapshot, BullMQ's own statements read an index entry for
 * each job that has waited before. So usually the queue is read from a floor, and BullMQ's functions look at all of it now
 * and then: for jobs with a priority, delayed jobs that are due, and jobs added out of turn. With a worker that has a free
 * slot, such a job waits at most 20 times as long as a look takes, and at most ten seconds, until it is looked for; with
 * a worker that no notification wakes, for as long as BullMQ waits for one besides.
 */
export class KnownQueue {
  readonly floor = new Floor();
  readonly looks = new Looks();
  /** The last look was for a job to take, not only for the answer whether one waits. */
  lastTook = false;
  /** By `clock`, the time until which BullMQ has moved delayed jobs to the waiting ones. */
  promotedTo = 0;

  constructor(readonly clock: Clock) {}

  /** Delayed jobs that are still to be moved are due after this time. */
  get promotedSince(): number {
    return Math.min(this.promotedTo, this.clock.now()) - delayedLagMs;
  }
}
