import pg from 'pg';
import { isConnectionError } from '../postgres/errors.ts';
import { Gatherer } from '../postgres/gather.ts';
import { completeAndFetch, completeJobs } from './complete-jobs.ts';

/** The functions with which BullMQ ends jobs, and the statement that does the same for many calls. */
const gathered: Record<string, string> = { move_to_completed: completeJobs, move_to_completed_fetch: completeAndFetch };

/** Two at a time, so that batches grow: only a free slot waits for the end of a job. */
const limits = { items: 50, characters: 2 ** 20, inFlight: 2 };

type Row = Record<string, unknown>;

/**
 * A pool for BullMQ whose calls that end jobs at the same moment share a statement and a commit: most of the cost of a
 * call is that of its commit. A call that the statement does not answer, and each call of a batch that fails, is sent
 * alone, as BullMQ sent it.
 */
export class GatheringPool extends pg.Pool {
  readonly #gatherers = new Map<string, Gatherer<Row[] | undefined>>();

  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- of six overloads, this concerns one
  override query(...args: any[]): any {
    const [text, values] = args as [unknown, unknown];
    const name = typeof text === 'string' && Array.isArray(values) ? functionIn(text) : undefined;
    if (name === undefined || args.length > 2) return this.#send(...args);
    return this.#gather(name, values as unknown[], () => this.#send(...args));
  }

  #send(...args: unknown[]): Promise<pg.QueryResult<Row>> {
    return (super.query as (...given: unknown[]) => Promise<pg.QueryResult<Row>>).apply(this, args);
  }

  async #gather(name: string, values: unknown[], alone: () => Promise<unknown>): Promise<unknown> {
    try {
      const rows = await this.#gathererOf(name).add(JSON.stringify(values));
      // a row without an id: there is no next job
      if (rows) return { rows: rows.filter(({ id }) => id !== null) };
    } catch (error) {
      if (isConnectionError(error)) throw error;
    }
    // its job is locked, gone or not plain, or the batch failed
    return alone();
  }

  #gathererOf(name: string): Gatherer<Row[] | undefined> {
    let gatherer = this.#gatherers.get(name);
    if (gatherer === undefined) {
      const text = gathered[name]!;
      gatherer = new Gatherer<Row[] | undefined>(async (items) => {
        const answers: Row[][] = [];
        const { rows } = await this.#send(text, [items]);
        for (const row of rows) (answers[Number(row['call']) - 1] ??= []).push(row);
        return answers;
      }, limits);
      this.#gatherers.set(name, gatherer);
    }
    return gatherer;
  }
}

const functionIn = (text: string): string | undefined => {
  const [, name] = /\bselect\s+(?:\*\s+from\s+)?(\w+)\s*\(/i.exec(text) ?? [];
  return name !== undefined && Object.hasOwn(gathered, name) ? name : undefined;
};
