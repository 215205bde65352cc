import pg from 'pg';
import { isConnectionError } from '../../database/postgres/errors.ts';
import { delay } from '../../base/common/timer.ts';

export interface RunKey {
  threadId: string;
  id: string;
}

/** A superuser connection that bypasses proxies and connection limits, and reconnects after restarts. */
export class Observer {
  #client: pg.Client | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(readonly url: () => string) {}

  /** Runs queries one at a time on a single connection, which is replaced when it breaks. */
  query<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    const result = this.#last.then(() => this.#queryWithRetry<Row>(text, values));
    this.#last = result.catch(() => {});
    return result;
  }

  async runsHeldBy(workerId: string): Promise<RunKey[]> {
    return this.query<{ threadId: string; id: string }>(
      `select thread_id as "threadId", id from lanefold.run where status = 'running' and worker_id = $1`,
      [workerId],
    );
  }

  /** The runs that a worker holds or could hold: those that are queued and do not wait for a limit. */
  async activeRuns(): Promise<RunKey[]> {
    return this.query<{ threadId: string; id: string }>(
      `select thread_id as "threadId", id from lanefold.run where status in ('queued', 'running') and limited_by is null`,
    );
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#client?.end().catch(() => {});
  }

  async #queryWithRetry<Row extends pg.QueryResultRow>(text: string, values: unknown[]): Promise<Row[]> {
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
