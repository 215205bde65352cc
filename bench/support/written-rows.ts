import { createLanefold } from 'lanefold';
import pg from 'pg';
import { agent, models, text400 } from '../workload.ts';

export type Row = Record<string, unknown>;

/** What one commit does to one row. */
export interface WrittenRow {
  /** With its schema. */
  table: string;
  /** The row before; null if the commit inserts it. */
  old: Row | null;
  new: Row;
}

/** What a run writes, commit by commit, and the ids that appear in it. */
export interface WrittenRun {
  threadId: string;
  runId: string;
  commits: WrittenRow[][];
}

const record = (schemas: string[]) => `
  create schema bench;
  create table bench.written (
    no bigint generated always as identity, tx xid8 not null default pg_current_xact_id(), name text not null, old jsonb, new jsonb
  );
  create function bench.record() returns trigger language plpgsql security definer as $$
  begin
    insert into bench.written (name, old, new)
    values (tg_table_schema || '.' || tg_table_name, case when tg_op = 'UPDATE' then to_jsonb(old) end, to_jsonb(new));
    return null;
  end $$;
  do $$ declare c regclass; begin
    for c in select oid from pg_class where relnamespace::regnamespace::text in (${schemas.map(pg.escapeLiteral).join(', ')}) and relkind = 'r' loop
      execute format('create trigger bench_record after insert or update on %s for each row execute function bench.record()', c);
    end loop;
  end $$`;

/** Executes the measured run in a migrated database, and returns what it wrote to the tables of these schemas. */
export async function recordRun(databaseUrl: string, schemas: string[]): Promise<WrittenRun> {
  const lanefold = await createLanefold({ databaseUrl, redisUrl: null, agents: [agent], models });
  await lanefold.startWorker({ concurrency: 1 });
  // the first run of a process prepares statements and creates the queue
  const execute = async () => lanefold.runs.wait(await lanefold.runs.enqueue({ agent: 'bench', input: text400 }));
  await execute();
  const client = new pg.Client(databaseUrl);
  await client.connect();
  await client.query(record(schemas));
  const run = await execute();
  await lanefold.close();
  const { rows } = await client.query<WrittenRow & { tx: string }>(
    `select tx::text, name as table, old, new from bench.written
     where tx in (select tx from bench.written where strpos(new::text, $1) > 0) order by no`,
    [run.id],
  );
  await client.query('drop schema bench cascade');
  await client.end();
  const commits = new Map<string, WrittenRow[]>();
  for (const { tx, ...row } of rows) commits.set(tx, [...(commits.get(tx) ?? []), row]);
  return { threadId: run.threadId, runId: run.id, commits: [...commits.values()] };
}
