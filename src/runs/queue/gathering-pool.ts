import pg from 'pg';
import { processClock, type Clock } from '../../base/common/timer.ts';
import { isConnectionError } from '../../database/postgres/errors.ts';
import { Gatherer } from '../../database/postgres/gather.ts';
import { bullCall, endOf, statements, type Outcome } from './bull-calls.ts';
import { JobTaker, JobWatch } from './taking/job-taker.ts';
import { KnownQueue, type Result, type Row } from './taking/known-queue.ts';

/** Two at a time, so that batches grow: only a free slot waits for the end of a job. */
const limits = { items: 50, characters: 2 ** 20, inFlight: 2 };

/**
 * A pool for BullMQ that sends other statements than BullMQ where those cost too much. Calls that end jobs at the same
 * moment share a statement and a commit: a call costs little more than its commit. A call that the statement does
 * not answer, and each call of a batch that fails, is sent alone, as BullMQ sent it. How jobs are taken: see `KnownQueue`.
 */
export class GatheringPool extends pg.Pool {
  readonly #queues = new Map<string, { taker: JobTaker; watch: JobWatch }>();
  readonly #ends = { completed: this.#gatherEnds('completed'), failed: this.#gatherEnds('failed') };

  constructor(
    config: pg.PoolConfig,
    private readonly clock: Clock = processClock,
  ) {
    super(config);
  }

  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- of six overloads, this concerns one
  override query(...args: any[]): any {
    const [text, values] = args as [unknown, unknown];
    const asBullMq = () => this.#send(...args);
    if (args.length > 2 || typeof text !== 'string' || !Array.isArray(values)) return asBullMq();
    return this.#replace(text, values, asBullMq) ?? asBullMq();
  }

  #send(...args: unknown[]): Promise<pg.QueryResult<Row>> {
    return (super.query as (...given: unknown[]) => Promise<pg.QueryResult<Row>>).apply(this, args);
  }

  #replace(text: string, values: unknown[], asBullMq: () => Result): Result | undefined {
    const call = bullCall(text);
    switch (call) {
      case 'move_to_completed':
      case 'move_to_failed':
      case 'move_to_completed_fetch':
      case 'move_to_failed_fetch': {
        const end = endOf(call, values);
        if (!end) return undefined;
        const { outcome, job, next } = end;
        if (next) return this.#queue(job.queue).taker.endAndTake({ outcome, job, next }, asBullMq);
        return this.#end(outcome, JSON.stringify(job), asBullMq);
      }
      case 'move_to_active':
        return this.#queue(values[0]).taker.take(values);
      case 'has_waiting_job':
        return this.#queue(values[0]).watch.hasWaiting(values, asBullMq);
      case 'next_delay':
        return this.#queue(values[0]).watch.nextDelay(values);
      case 'next_signal':
        return this.#queue(values[0]).watch.nextSignal(values);
      case 'extend_locks':
        return this.#send(byId(text), values);
      default:
        return undefined;
    }
  }

  async #end(outcome: Outcome, job: string, asBullMq: () => Result): Result {
    try {
      const rows = await this.#ends[outcome].add(job);
      if (rows) return { rows };
    } catch (error) {
      if (isConnectionError(error)) throw error;
    }
    // the job is locked, gone or not plain, or the batch failed
    return asBullMq();
  }

  #gatherEnds(outcome: Outcome): Gatherer<Row[] | undefined> {
    return new Gatherer(async (jobs) => {
      const answers: (Row[] | undefined)[] = [];
      const { rows } = await this.#send(statements[outcome].end, [jobs]);
      for (const row of rows) answers[Number(row['asked']) - 1] = [row];
      return answers;
    }, limits);
  }

  #queue(name: unknown): { taker: JobTaker; watch: JobWatch } {
    let queue = this.#queues.get(name as string);
    if (queue === undefined) {
      const known = new KnownQueue(this.clock);
      const send = (text: string, values: unknown[]) => this.#send(text, values);
      queue = { taker: new JobTaker(send, known, limits), watch: new JobWatch(send, known) };
      this.#queues.set(name as string, queue);
    }
    return queue;
  }
}

/**
 * The jobs that a statement names are found by id. If it compares `state` with a constant, its plan may use the index of
 * active jobs instead, which keeps the entries of those that have ended while a transaction keeps its snapshot.
 */
const byId = (text: string): string => text.replace(/\bstate = 'active'/i, "state::text = 'active'");
