import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { isConnectionError } from '../postgres/errors.ts';

export interface RunKey {
  threadId: string;
  id: string;
}

/** Looks at the database as its superuser, past proxies and filled pools, and over restarts. */
export class Watch {
  #client: pg.Client | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(readonly url: () => string) {}

  /** Queries one after the other on one connection, which is made anew when it breaks. */
  query<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    const work = this.#turn.then(() => this.#ask<Row>(text, values));
    this.#turn = work.catch(() => {});
    return work;
  }

  /** The runs in the hands of a worker. */
  async held(workerId: string): Promise<RunKey[]> {
    return this.query<{ threadId: string; id: string }>(
      `select thread_id as "threadId", id from lanefold.run where status = 'running' and worker_id = $1`,
      [workerId],
    );
  }

  /** The runs in anybody's hands, or in the queue's. */
  async active(): Promise<RunKey[]> {
    return this.query<{ threadId: string; id: string }>(
      `select thread_id as "threadId", id from lanefold.run where status in ('queued', 'running')`,
    );
  }

  async close(): Promise<void> {
    await this.#turn;
    await this.#client?.end().catch(() => {});
  }

  async #ask<Row extends pg.QueryResultRow>(text: string, values: unknown[]): Promise<Row[]> {
    for (let left = 300; ; left--) {
      try {
        this.#client ??= await this.#connect();
        return (await this.#client.query<Row>(text, values)).rows;
      } catch (error) {
        if (!isConnectionError(error) || left === 0) throw error;
        this.#client?.end().catch(() => {});
        this.#client = undefined;
        await delay(50);
      }
    }
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.url(), application_name: 'lanefold chaos' });
    client.on('error', () => {});
    await client.connect();
    return client;
  }
}
