import pg from 'pg';
import { isConnectionError } from '../postgres/errors.ts';
import { Gatherer } from '../postgres/gather.ts';
import { completeJobs } from './complete-jobs.ts';
import { JobTaker, type Row } from './taking/job-taker.ts';

/** Two at a time, so that batches grow: only a free slot waits for the end of a job. */
const limits = { items: 50, characters: 2 ** 20, inFlight: 2 };

type Result = Promise<{ rows: Row[] }>;

/**
 * A pool for BullMQ that sends other statements than BullMQ where those cost too much. Calls that end jobs at the same
 * moment share a statement and a commit: most of the cost of a call is that of its commit. A call that the statement does
 * not answer, and each call of a batch that fails, is sent alone, as BullMQ sent it. How jobs are taken: see `JobTaker`.
 */
export class GatheringPool extends pg.Pool {
  readonly #takers = new Map<string, JobTaker>();
  readonly #ends = new Gatherer<Row[] | undefined>(async (items) => {
    const answers: Row[][] = [];
    const { rows } = await this.#send(completeJobs, [items]);
    for (const row of rows) answers[Number(row['asked']) - 1] = [row];
    return answers;
  }, limits);

  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- of six overloads, this concerns one
  override query(...args: any[]): any {
    const [text, values] = args as [unknown, unknown];
    if (args.length > 2 || typeof text !== 'string' || !Array.isArray(values)) return this.#send(...args);
    return this.#replace(text, values, () => this.#send(...args)) ?? this.#send(...args);
  }

  #send(...args: unknown[]): Promise<pg.QueryResult<Row>> {
    return (super.query as (...given: unknown[]) => Promise<pg.QueryResult<Row>>).apply(this, args);
  }

  #replace(text: string, values: unknown[], asBullMq: () => Result): Result | undefined {
    const taker = () => this.#takerOf(values[0] as string);
    switch (calledIn(text)) {
      case 'has_waiting_job':
        return taker().hasWaiting(values[0], asBullMq);
      case 'move_to_active':
        return taker().take(values);
      case 'move_to_completed':
        return this.#complete(values, asBullMq);
      case 'move_to_completed_fetch':
        return isPlain(values) ? taker().completeAndTake(values, asBullMq) : undefined;
      case 'next_delay':
        return taker().nextDelay(values);
      case 'next_signal':
        return taker().nextSignal(values);
      default:
        return undefined;
    }
  }

  async #complete(values: unknown[], asBullMq: () => Result): Result {
    try {
      const rows = isPlain(values) ? await this.#ends.add(JSON.stringify(values)) : undefined;
      if (rows) return { rows };
    } catch (error) {
      if (isConnectionError(error)) throw error;
    }
    // its job is locked, gone or not plain, or the batch failed
    return asBullMq();
  }

  #takerOf(queue: string): JobTaker {
    let taker = this.#takers.get(queue);
    if (taker === undefined) {
      taker = new JobTaker((text, values) => this.#send(text, values), limits);
      this.#takers.set(queue, taker);
    }
    return taker;
  }
}

/** The call keeps its job: the statements that end many jobs remove none. */
const isPlain = (values: unknown[]): boolean => values[5] !== true && values[6] === null && values[7] === null;

const call = /\bselect\s+(?:[\w, *]+\sfrom\s+)?(\w+)\s*\(/i;
/** The only statement of these that calls no function. */
const question = /^\s*exists\(\s*select 1 from job where queue = \$1 and state = 'waiting'\s*\)/im;
const names = new Map<string, string | undefined>();

/** The function that a statement of BullMQ's calls. BullMQ sends few texts. */
function calledIn(text: string): string | undefined {
  if (!names.has(text)) names.set(text, question.test(text) ? 'has_waiting_job' : call.exec(text)?.[1]);
  return names.get(text);
}
