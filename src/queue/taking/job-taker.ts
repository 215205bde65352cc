import { setTimeout as sleep } from 'node:timers/promises';
import { isConnectionError } from '../../postgres/errors.ts';
import { Gatherer, type GatherLimits } from '../../postgres/gather.ts';
import type { End } from '../bull-calls.ts';
import { statements, type EndedJob, type Outcome } from '../end-jobs.ts';
import { Floor } from './floor.ts';
import { Looks } from './looks.ts';
import { hasWaiting, nextDelay, nextSignal, takeJobs } from './take-jobs.ts';

export type Row = Record<string, unknown>;
export type Send = (text: string, values: unknown[]) => Promise<{ rows: Row[] }>;

/** A statement of BullMQ's, sent as it is. */
type AsBullMq = () => Promise<{ rows: Row[] }>;

type EndAndTake = End & { next: unknown[] };

const moveToActive = 'select * from move_to_active($1, $2, $3, $4, $5, $6, $7)';

/** How late a delayed job may be added and still be noticed in time, in ms. */
const delayedLagMs = 5_000;

/**
 * Takes the jobs of a queue in PostgreSQL for BullMQ's workers. While a transaction keeps its snapshot, BullMQ's own
 * functions read an index entry for each job that has waited before. So usually jobs are taken by a statement that starts
 * from a floor, and BullMQ's functions look at the whole queue now and then: for prioritized jobs, delayed jobs that are
 * due, and jobs added out of turn. Such a job is found at most 20 times as long after it was added as a look takes, and at
 * most 10 seconds. A queue that is paused or has a limit is left to BullMQ.
 */
export class JobTaker {
  readonly #floor = new Floor();
  readonly #looks = new Looks();
  readonly #ends: Record<Outcome, Gatherer<Row[] | undefined>>;
  #promotedTo = 0;
  /** The last look was for a job to take, not only for the answer whether one waits. */
  #lastTook = false;
  #waiting: Promise<{ rows: Row[] }> | undefined;

  constructor(
    private readonly send: Send,
    limits: GatherLimits,
  ) {
    const gather = (outcome: Outcome) =>
      new Gatherer((jobs) => this.#scan(statements[outcome].endAndTake, jobs), limits);
    this.#ends = { completed: gather('completed'), failed: gather('failed') };
  }

  /** As `move_to_active`, with its arguments. */
  async take(values: unknown[]): Promise<{ rows: Row[] }> {
    if (hasOwnLimit(values)) return this.send(moveToActive, values);
    return this.#looks.begin() ? this.#look(values) : this.#takeFromFloor(values);
  }

  /** As `move_to_completed_fetch` or `move_to_failed_fetch`. */
  async endAndTake({ outcome, job, next }: EndAndTake, asBullMq: AsBullMq): Promise<{ rows: Row[] }> {
    if (hasOwnLimit(next)) return asBullMq();
    const looks = this.#looks.begin();
    const [, , lock_ms, now, name] = next as [string, string, number, number, string | null];
    const ended = await this.#end(outcome, looks ? job : { ...job, next: { lock_ms, now, name } }).catch(
      (error: unknown) => {
        if (looks) this.#looks.giveUp();
        throw error;
      },
    );
    if (ended) return looks ? this.#look(next) : this.#answer(ended, next);
    if (looks) this.#looks.giveUp();
    // the job is locked, gone or not plain, or the batch failed
    return asBullMq();
  }

  /** As BullMQ's question whether a job waits. If only a look could tell, the answer comes when one is due. */
  async hasWaiting(values: unknown[], asBullMq: AsBullMq): Promise<{ rows: Row[] }> {
    const found = await this.send(hasWaiting, [...values, this.#floor.seq]);
    if (isPresent(found)) return found;
    return (this.#waiting ??= this.#lookForWaiting(values, asBullMq).finally(() => (this.#waiting = undefined)));
  }

  /** As `next_delay`. */
  async nextDelay(values: unknown[]): Promise<{ rows: Row[] }> {
    return this.#whenLooking(await this.send(nextDelay, [...values, this.#promotedSince]));
  }

  /** As `next_signal`. */
  async nextSignal(values: unknown[]): Promise<{ rows: Row[] }> {
    return this.#whenLooking(await this.send(nextSignal, [...values, this.#promotedSince]));
  }

  async #end(outcome: Outcome, job: EndedJob): Promise<Row[] | undefined> {
    try {
      return await this.#ends[outcome].add(JSON.stringify(job));
    } catch (error) {
      if (isConnectionError(error)) throw error;
      return undefined;
    }
  }

  async #takeFromFloor(values: unknown[]): Promise<{ rows: Row[] }> {
    const [rows = []] = await this.#scan(takeJobs, JSON.stringify([values]));
    return this.#answer(rows, values);
  }

  #answer(rows: Row[], values: unknown[]): Promise<{ rows: Row[] }> | { rows: Row[] } {
    if (rows[0]?.['limited']) return this.send(moveToActive, values);
    return { rows: rows.filter(({ id }) => id !== null) };
  }

  /** Sends a statement that takes jobs from the floor; the answers to its items, and learns from them. */
  async #scan(text: string, items: string): Promise<(Row[] | undefined)[]> {
    const startedAt = performance.now();
    const { rows } = await this.send(text, [items, this.#floor.seq]);
    const answers: Row[][] = [];
    for (const row of rows) (answers[Number(row['asked']) - 1] ??= []).push(row);
    const asked = rows.filter(({ limited }) => limited === false);
    const seqs = asked.filter(({ id }) => id !== null).map(({ seq }) => Number(seq));
    const clearTo = seqs.length < asked.length ? Infinity : Math.max(0, ...seqs);
    if (asked.length > 0) this.#floor.raise({ startedAt, clearTo, lastSeq: Number(asked[0]!['last_seq'] ?? 0) });
    return answers;
  }

  #look(values: unknown[]): Promise<{ rows: Row[] }> {
    const isMore = ({ rows: [job] }: { rows: Row[] }) =>
      job !== undefined && !this.#floor.leadsTo({ priority: Number(job['priority']), seq: Number(job['seq']) });
    return this.#looks.take(async () => {
      this.#lastTook = true;
      const taken = await this.send(moveToActive, values);
      this.#promotedTo = Number(values[3]);
      return taken;
    }, isMore);
  }

  async #lookForWaiting(values: unknown[], asBullMq: AsBullMq): Promise<{ rows: Row[] }> {
    while (!this.#looks.begin()) await sleep(Math.ceil(this.#looks.dueInMs), undefined, { ref: false });
    // A look that only asks moves no delayed job. Two of them in turn would leave no time for one that takes: so the worker
    // is told to take.
    if (!this.#lastTook || (await this.#hasDelayedDue(values))) {
      this.#looks.giveUp();
      return { rows: [{ present: true }] };
    }
    this.#lastTook = false;
    return this.#looks.take(asBullMq, isPresent);
  }

  async #hasDelayedDue(values: unknown[]): Promise<boolean> {
    try {
      const { rows } = await this.send(nextDelay, [...values, this.#promotedSince]);
      const at = rows[0]?.['next_delay'];
      return typeof at === 'string' && Number(at) <= Date.now();
    } catch (error) {
      this.#looks.giveUp();
      throw error;
    }
  }

  get #promotedSince(): number {
    return Math.min(this.#promotedTo, Date.now()) - delayedLagMs;
  }

  /** A worker that is woken by a delayed job finds it only by a look. */
  #whenLooking({ rows }: { rows: Row[] }): { rows: Row[] } {
    const earliest = Math.ceil(Date.now() + this.#looks.dueInMs);
    const later = ({ next_delay: at }: Row) => (at === null || Number(at) >= earliest ? at : earliest);
    return { rows: rows.map((row) => ({ ...row, next_delay: later(row) })) };
  }
}

const isPresent = ({ rows }: { rows: Row[] }): boolean => rows[0]?.['present'] === true;

/** A worker that limits the rate of its jobs. */
const hasOwnLimit = (values: unknown[]): boolean => values[5] !== null || values[6] !== null;
