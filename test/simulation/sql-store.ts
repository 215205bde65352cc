import { type SnapshotRow, snapshotSql } from '../../src/ops/chaos/recording/conclude.ts';
import type { Database } from '../../src/database/postgres/pool.ts';
import { limit } from './model/limits.ts';
import type { Body } from './model/state.ts';
import type { Statement, Store } from './store.ts';

/** The functions in PostgreSQL, on one connection, which sees virtual time. */
export class SqlStore implements Store {
  #at = Date.UTC(2026, 0, 1);
  #restartedAt = 0;

  private constructor(readonly db: Database) {}

  /** With the one limit that the model has. @param db a new database, over one connection */
  static async open(db: Database): Promise<SqlStore> {
    const store = await SqlStore.#under(db);
    await db.query('', 'select lanefold.set_limit($1, $2, $3)', ['*', 'tokens', JSON.stringify(limit)]);
    return store;
  }

  /** For all rooms: what views compute, and in which order rows come, depends on virtual time and on the statements alone. */
  static async openForRooms(db: Database): Promise<SqlStore> {
    const store = await SqlStore.#under(db);
    await db.query(
      '',
      `do $$
       declare
         v record;
       begin
         for v in select oid::regclass as name, pg_get_viewdef(oid) as text from pg_class
             where relnamespace = 'lanefold'::regnamespace and relkind = 'v' and pg_get_viewdef(oid) like '%clock_timestamp()%' loop
           execute format('create or replace view %s as %s', v.name, replace(v.text, 'clock_timestamp()', 'lanefold._now()'));
         end loop;
         for v in select oid::regclass as name from pg_class where relnamespace = 'lanefold'::regnamespace and relkind = 'r' loop
           execute format('alter table %s set (autovacuum_enabled = false)', v.name);
         end loop;
       end $$`,
    );
    // the queue is simulated: it takes the job from the answer
    const job = 'p_thread_id text, p_run_id text, p_enqueue_no int, p jsonb';
    await db.query('', `create or replace function lanefold._add_job(${job}) returns void language sql as ''`);
    return store;
  }

  static async #under(db: Database): Promise<SqlStore> {
    // lanefold.clock_offset moves a clock that continues; here time stands still while a statement is executed
    await db.query(
      '',
      `create or replace function lanefold._now() returns timestamptz language sql volatile parallel safe as $$
         select to_timestamp(current_setting('simulation.now')::float8 / 1000) $$;
       create or replace function lanefold.name_key(p_tenant_id text) returns text language sql as 'select p_tenant_id';
       create or replace function lanefold._restarted_since(p_at timestamptz) returns boolean language sql stable as $$
         select p_at < to_timestamp(current_setting('simulation.restarted')::float8 / 1000) $$`,
    );
    const store = new SqlStore(db);
    await store.#setClock(store.#at);
    return store;
  }

  async execute(at: number, { name, text, values }: Statement): Promise<Body[]> {
    await this.#setClock(at);
    return this.db.query<Body>(name, text, [...values]);
  }

  restarted(at: number): void {
    this.#restartedAt = at;
  }

  /** For checks, which look from inside. */
  async rows<Row>(name: string, text: string, values: unknown[] = []): Promise<Row[]> {
    // the connection may be another one by now
    await this.#setClock(this.#at);
    return this.db.query<Row>(`simulation_${name}`, text, values);
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
    this.#at = at;
    const text = `select set_config('simulation.now', $1, false), set_config('simulation.restarted', $2, false)`;
    await this.db.query('set_clock', text, [String(at), String(this.#restartedAt)]);
  }
}
