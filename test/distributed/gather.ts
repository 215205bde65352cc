import type pg from 'pg';
import { migrate } from '../../src/database/store/schema/migrate.ts';
import { databaseAt, statements } from '../support/citus.ts';
import { on } from '../support/citus-node.ts';

/**
 * Copies every row of a distributed database to an undistributed one, whose URL it returns: the checks of a campaign join
 * tables in ways that Citus does not.
 *
 * @param server superuser URL of a PostgreSQL without Citus
 * @param prepare called before the rows come
 */
export async function gather(
  distributed: string,
  server: string,
  prepare: (url: string) => Promise<unknown>,
): Promise<string> {
  const name = `gathered_${new URL(distributed).pathname.slice(1)}`;
  await statements(server, `drop database if exists ${name} with (force)`, `create database ${name}`);
  const url = databaseAt(server, name);
  await migrate(url, { queueTables: false });
  await prepare(url);
  await on(distributed, (from) => on(url, (to) => copy(from, to)));
  return url;
}

/** What has the thread in its key, and so is distributed. */
const columnsOfTables = `
  select k.relname as name, array_agg(quote_ident(a.attname) order by a.attnum) as columns
  from pg_class k join pg_attribute a on a.attrelid = k.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
  where k.relnamespace = 'lanefold'::regnamespace and k.relkind = 'r' and (k.relname = 'thread' or exists (
    select from pg_index i join pg_attribute t on t.attrelid = k.oid and t.attnum = i.indkey[0]
    where i.indrelid = k.oid and i.indisprimary and t.attname = 'thread_id'))
  group by k.relname`;

async function copy(from: pg.Client, to: pg.Client): Promise<void> {
  // rows are as they were stored: no trigger but those that always fire
  await to.query('set session_replication_role = replica');
  const { rows: tables } = await to.query<{ name: string; columns: string[] }>(columnsOfTables);
  for (const { name, columns } of tables) {
    const { rows } = await from.query<{ row: string }>(
      `select row(${columns.join(', ')})::text as row from lanefold.${name}`,
    );
    const read = columns.map((column) => `(r).${column}`).join(', ');
    await to.query(`create temporary table copied as select ${columns.join(', ')} from lanefold.${name} limit 0`);
    await to.query(
      `insert into lanefold.${name} (${columns.join(', ')}) select ${read} from (select t::copied as r from unnest($1::text[]) t) s`,
      [rows.map(({ row }) => row)],
    );
    await to.query('drop table copied');
  }
}
