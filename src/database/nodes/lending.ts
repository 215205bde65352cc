import type pg from 'pg';
import type { Connections } from '../postgres/node-guard.ts';

/** Lends a connection of a pool for one statement, and can break it while the statement waits for its answer. */
export class Lending implements Connections {
  #client: pg.PoolClient | undefined;
  /** `performance.now()` when the statement got its connection. */
  lentAt: number | undefined;
  isCut = false;

  constructor(private readonly pool: pg.Pool) {}

  async connect(): Promise<pg.PoolClient> {
    const client = await this.pool.connect();
    this.#client = client;
    this.lentAt = performance.now();
    if (this.isCut) this.#break();
    return client;
  }

  async query(query: { text: string; values?: unknown[]; name?: string }) {
    const client = await this.connect();
    let fault: Error | undefined;
    try {
      return await client.query<Record<string, unknown>>(query);
    } catch (error) {
      fault = error as Error;
      throw error;
    } finally {
      client.release(fault);
    }
  }

  /** Breaks the connection: the server cannot be told to give up, because it waits for the node itself. */
  cut(): void {
    this.isCut = true;
    this.#break();
  }

  #break(): void {
    const { connection } = (this.#client ?? {}) as { connection?: { stream: { destroy(): void } } };
    connection?.stream.destroy();
  }
}
