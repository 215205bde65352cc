import pg from 'pg';
import { isConnectionError } from '../postgres/errors.ts';
import { Gatherer } from '../postgres/gather.ts';

/** The functions with which BullMQ ends jobs, and the types of their arguments. */
const gathered: Record<string, string[]> = {
  move_to_completed: ['text', 'text', 'text', 'jsonb', 'bigint', 'boolean', 'bigint', 'int'],
  move_to_completed_fetch: [
    ...['text', 'text', 'text', 'jsonb', 'bigint', 'boolean', 'bigint', 'int'],
    ...['bigint', 'bigint', 'text', 'int', 'bigint'],
  ],
};

/** Two at a time, so that batches grow: only a free slot waits for the end of a job. */
const limits = { items: 50, characters: 2 ** 20, inFlight: 2 };

type Row = Record<string, unknown>;

/**
 * A pool for BullMQ whose calls that end jobs at the same moment share a statement and a commit: most of the cost of a
 * call is that of its commit. A call whose job is locked, and each call of a batch that fails, is sent alone, as BullMQ
 * sent it.
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
    // its job is locked or gone, or the batch failed
    return alone();
  }

  #gathererOf(name: string): Gatherer<Row[] | undefined> {
    let gatherer = this.#gatherers.get(name);
    if (gatherer === undefined) {
      const text = gatheredCall(name, gathered[name]!);
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

/** Waits for no job that another statement has locked, so that two batches, or a batch and a renewal, cannot deadlock. */
const gatheredCall = (name: string, types: string[]): string =>
  `select c.call, r.* from jsonb_array_elements($1::jsonb) with ordinality as c (args, call)
   cross join lateral (select from job where queue = c.args ->> 0 and id = c.args ->> 1 for update skip locked) as held
   left join lateral ${name}(${types.map((type, i) => `(c.args ->> ${i})::${type}`).join(', ')}) as r on true`;
