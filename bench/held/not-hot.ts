import pg from 'pg';
import { recordRun } from '../support/written-rows.ts';

/** An indexed column that a run changes. Such an update writes an entry to every index of its table. */
export interface IndexedChange {
  table: string;
  column: string;
  indexes: string[];
  /** Updates of the column in one run. */
  updates: number;
}

/** Executes a run, and compares what its updates change with the indexes, including their conditions. */
export async function indexedChanges(databaseUrl: string): Promise<IndexedChange[]> {
  const { commits } = await recordRun(databaseUrl, ['lanefold', 'bullmq']);
  const client = new pg.Client(databaseUrl);
  await client.connect();
  const { rows: indexed } = await client.query<Omit<IndexedChange, 'updates'>>(
    `select c.relnamespace::regnamespace || '.' || c.relname as table, attname as column, array_agg(distinct i.relname::text) as indexes
     from pg_index x join pg_class c on c.oid = x.indrelid join pg_class i on i.oid = x.indexrelid
     join pg_attribute a on a.attrelid = x.indrelid and attnum > 0
     where attnum = any (indkey) or exists (select from pg_depend
       where classid = 'pg_class'::regclass and objid = indexrelid and refobjid = indrelid and refobjsubid = attnum)
     group by 1, 2 order by 1, 2`,
  );
  await client.end();
  return indexed
    .map((one) => ({
      ...one,
      updates: commits
        .flat()
        .filter((row) => row.table === one.table && row.old && changed(row.old[one.column], row.new[one.column]))
        .length,
    }))
    .filter(({ updates }) => updates > 0);
}

const changed = (a: unknown, b: unknown): boolean => JSON.stringify(a) !== JSON.stringify(b);
