import type { SnapshotRow } from '../../src/chaos/recording/snapshot.ts';
import { snapshotSql } from '../../src/chaos/recording/snapshot.ts';
import type { Database } from '../../src/postgres/pool.ts';
import { limit } from './model/limits.ts';
import type { Body } from './model/state.ts';
import type { Statement, Store } from './store.ts';

/** The functions in PostgreSQL, on one connection, which sees virtual time. */
export class SqlStore implements Omit<Store, 'inside'> {
  private constructor(private readonly db: Database) {}

  /** @param db a new database, over one connection */
  static async open(db: Database): Promise<SqlStore> {
    // lanefold.clock_offset moves a clock that goes on; here time stands still while a statement is executed
    await db.query(
      '',
      `create or replace function lanefold._now() returns timestamptz language sql volatile parallel safe as $$
         select to_timestamp(current_setting('simulation.now')::float8 / 1000) $$`,
    );
    const store = new SqlStore(db);
    await store.#setClock(Date.UTC(2026, 0, 1));
    await db.query('', 'select lanefold.set_limit($1, $2, $3)', ['*', 'tokens', JSON.stringify(limit)]);
    return store;
  }

  async execute(at: number, { name, text, values }: Statement): Promise<Body[]> {
    await this.#setClock(at);
    return this.db.query<Body>(name, text, [...values]);
  }

  async snapshot(threadId: string): Promise<SnapshotRow> {
    const [row] = await this.db.query<SnapshotRow>('', snapshotSql, [[threadId]]);
    return row!;
  }

  async trace(threadId: string): Promise<string[]> {
    const text = 'select event_seq, run_id, kind from lanefold.run_event where thread_id = $1 order by event_seq';
    const events = await this.db.query<Body>('', text, [threadId]);
    return events.map(({ event_seq, run_id, kind }) => `${event_seq} ${run_id} ${kind}`);
  }

  async unfinished(): Promise<number> {
    const [row] = await this.db.query<{ n: number }>(
      '',
      'select count(*)::int as n from lanefold._run where finished_at is null',
    );
    return row!.n;
  }

  async #setClock(at: number): Promise<void> {
    await this.db.query('set_clock', `select set_config('simulation.now', $1, false)`, [String(at)]);
  }
}
