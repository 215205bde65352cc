import { isConnectionError } from '../../../database/postgres/errors.ts';
import { Gatherer, type GatherLimits } from '../../../database/postgres/gather.ts';
import { type End, statements, type EndedJob, type Outcome } from '../bull-calls.ts';
import {
  type AsBullMq,
  type KnownQueue,
  type Result,
  type Row,
  type Send,
  takeJobs,
  hasWaiting,
  nextDelay,
  nextSignal,
} from './known-queue.ts';
import { delay } from '../../../base/common/timer.ts';

type EndAndTake = End & { next: unknown[] };

const moveToActive = 'select * from move_to_active($1, $2, $3, $4, $5, $6, $7)';

/**
 * Takes the jobs of a queue in PostgreSQL for BullMQ's worker, from the floor or by a look: see `KnownQueue`. A queue that
 * is paused or has a limit is left to BullMQ.
 */
export class JobTaker {
  readonly #ends: Record<Outcome, Gatherer<Row[] | undefined>>;

  constructor(
    private readonly send: Send,
    private readonly queue: KnownQueue,
    limits: GatherLimits,
  ) {
    const gather = (outcome: Outcome) =>
      new Gatherer((jobs) => this.#scan(statements[outcome].endAndTake, jobs), limits);
    this.#ends = { completed: gather('completed'), failed: gather('failed') };
  }

  /** As `move_to_active`, with its arguments. */
  async take(values: unknown[]): Result {
    if (hasOwnLimit(values)) return this.send(moveToActive, values);
    return this.queue.looks.begin() ? this.#look(values) : this.#takeFromFloor(values);
  }

  /** As `move_to_completed_fetch` or `move_to_failed_fetch`. */
  async endAndTake({ outcome, job, next }: EndAndTake, asBullMq: AsBullMq): Result {
    if (hasOwnLimit(next)) return asBullMq();
    const looks = this.queue.looks.begin();
    const [, , lock_ms, now, name] = next as [string, string, number, number, string | null];
    const ended = await this.#end(outcome, looks ? job : { ...job, next: { lock_ms, now, name } }).catch(
      (error: unknown) => {
        if (looks) this.queue.looks.giveUp();
        throw error;
      },
    );
    // the job has ended: if the look fails, BullMQ asks for the next one, and meets the error there
    if (ended) return looks ? this.#look(next).catch(() => ({ rows: [] })) : this.#answer(ended, next);
    if (looks) this.queue.looks.giveUp();
    // the job is locked, gone or not plain, or the batch failed
    return asBullMq();
  }

  async #end(outcome: Outcome, job: EndedJob): Promise<Row[] | undefined> {
    try {
      return await this.#ends[outcome].add(JSON.stringify(job));
    } catch (error) {
      if (isConnectionError(error)) throw error;
      return undefined;
    }
  }

  async #takeFromFloor(values: unknown[]): Result {
    const [rows = []] = await this.#scan(takeJobs, JSON.stringify([values]));
    return this.#answer(rows, values);
  }

  #answer(rows: Row[], values: unknown[]): Result | { rows: Row[] } {
    if (rows[0]?.['limited']) return this.send(moveToActive, values);
    return { rows: rows.filter(({ id }) => id !== null) };
  }

  /** Sends a statement that takes jobs from the floor; the answers to its items, and learns from them. */
  async #scan(text: string, items: string): Promise<(Row[] | undefined)[]> {
    const startedAt = performance.now();
    const { rows } = await this.send(text, [items, this.queue.floor.seq]);
    const answers: Row[][] = [];
    for (const row of rows) (answers[Number(row['asked']) - 1] ??= []).push(row);
    const asked = rows.filter(({ limited }) => limited === false);
    const seqs = asked.filter(({ id }) => id !== null).map(({ seq }) => Number(seq));
    const clearTo = seqs.length < asked.length ? Infinity : Math.max(0, ...seqs);
    if (asked.length > 0) this.queue.floor.raise({ startedAt, clearTo, lastSeq: Number(asked[0]!['last_seq'] ?? 0) });
    return answers;
  }

  #look(values: unknown[]): Result {
    const isMore = ({ rows: [job] }: { rows: Row[] }) =>
      job !== undefined && !this.queue.floor.leadsTo({ priority: Number(job['priority']), seq: Number(job['seq']) });
    return this.queue.looks.take(async () => {
      this.queue.lastTook = true;
      const taken = await this.send(moveToActive, values);
      this.queue.promotedTo = Number(values[3]);
      return taken;
    }, isMore);
  }
}

/** A worker that limits the rate of its jobs. */
const hasOwnLimit = (values: unknown[]): boolean => values[5] !== null || values[6] !== null;

/** Answers whether and when a job waits, for a worker of BullMQ's that waits for one. See `KnownQueue`. */
export class JobWatch {
  #looking: Result | undefined;

  constructor(
    private readonly send: Send,
    private readonly queue: KnownQueue,
  ) {}

  /** As BullMQ's question whether a job waits. If only a look could tell, the answer comes when one is due. */
  async hasWaiting(values: unknown[], asBullMq: AsBullMq): Result {
    const found = await this.send(hasWaiting, [...values, this.queue.floor.seq]);
    if (isPresent(found)) return found;
    return (this.#looking ??= this.#lookForWaiting(values, asBullMq).finally(() => (this.#looking = undefined)));
  }

  /** As `next_delay`. */
  async nextDelay(values: unknown[]): Result {
    return this.#whenLooking(await this.send(nextDelay, [...values, this.queue.promotedSince]));
  }

  /** As `next_signal`. */
  async nextSignal(values: unknown[]): Result {
    return this.#whenLooking(await this.send(nextSignal, [...values, this.queue.promotedSince]));
  }

  async #lookForWaiting(values: unknown[], asBullMq: AsBullMq): Result {
    while (!this.queue.looks.begin()) await delay(Math.ceil(this.queue.looks.dueInMs), { ref: false });
    // A look that only asks moves no delayed job. Two of them in turn would leave no time for one that takes: so the worker
    // is told to take.
    if (!this.queue.lastTook || (await this.#hasDelayedDue(values))) {
      this.queue.looks.giveUp();
      return { rows: [{ present: true }] };
    }
    this.queue.lastTook = false;
    return this.queue.looks.take(asBullMq, isPresent);
  }

  async #hasDelayedDue(values: unknown[]): Promise<boolean> {
    try {
      const { rows } = await this.send(nextDelay, [...values, this.queue.promotedSince]);
      const at = rows[0]?.['next_delay'];
      return typeof at === 'string' && Number(at) <= this.queue.clock.now();
    } catch (error) {
      this.queue.looks.giveUp();
      throw error;
    }
  }

  /** A worker that is woken by a delayed job finds it only by a look. */
  #whenLooking({ rows }: { rows: Row[] }): { rows: Row[] } {
    const earliest = Math.ceil(this.queue.clock.now() + this.queue.looks.dueInMs);
    const later = ({ next_delay: at }: Row) => (at === null || Number(at) >= earliest ? at : earliest);
    return { rows: rows.map((row) => ({ ...row, next_delay: later(row) })) };
  }
}

const isPresent = ({ rows }: { rows: Row[] }): boolean => rows[0]?.['present'] === true;
