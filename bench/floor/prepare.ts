import { migrate } from 'lanefold';
import pg from 'pg';
import { recordRun, type WrittenRun } from '../support/written-rows.ts';

/** What the floor writes, and what it must know about the tables. */
export interface Template extends WrittenRun {
  columns: Record<string, Column[]>;
}

export interface Column {
  name: string;
  type: string;
  inPrimaryKey: boolean;
}

/** Policies do not bind superusers, so the floor logs in with this role. */
const role = 'bench_floor';

/** These triggers cost nothing in the measured statements. */
const truncatable = `
  drop trigger append_only_truncate on lanefold._entry;
  drop trigger keep_tombstone_truncate on lanefold.thread`;

/** Leaves the primary keys, without which no row would be found again. */
const bareTables = `do $$ declare c record; begin
  for c in select indexrelid::regclass as index from pg_index join pg_class on pg_class.oid = indrelid
    where relnamespace = 'lanefold'::regnamespace and not indisprimary loop
    execute format('drop index %s', c.index);
  end loop;
  for c in select tgname, tgrelid::regclass as name from pg_trigger join pg_class on pg_class.oid = tgrelid
    where relnamespace = 'lanefold'::regnamespace and not tgisinternal loop
    execute format('drop trigger %I on %s', c.tgname, c.name);
  end loop;
  for c in select oid::regclass as name from pg_class where relnamespace = 'lanefold'::regnamespace and relkind = 'r' loop
    execute format('alter table %s disable row level security', c.name);
  end loop;
end $$`;

/** Migrates an empty database and keeps what one run of Lanefold wrote there as the template of the floor. */
export async function prepareFloor(databaseUrl: string, { bare }: { bare: boolean }): Promise<void> {
  await migrate(databaseUrl);
  const run = await recordRun(databaseUrl, ['lanefold']);
  const client = new pg.Client(databaseUrl);
  await client.connect();
  const { rows } = await client.query<{ table: string; columns: Column[] }>(
    `select attrelid::regclass::text as table, json_agg(json_build_object('name', attname,
       'type', format_type(atttypid, atttypmod), 'inPrimaryKey', coalesce(attnum = any (indkey), false)) order by attnum) as columns
     from pg_attribute join pg_class on pg_class.oid = attrelid and relnamespace = 'lanefold'::regnamespace and relkind = 'r'
     left join pg_index on indrelid = attrelid and indisprimary
     where attnum > 0 and not attisdropped group by attrelid`,
  );
  const columns = Object.fromEntries(rows.map((row) => [row.table, row.columns]));
  const template: Template = { ...run, columns };
  await client.query('create table bench_floor (template json not null)');
  await client.query('insert into bench_floor values ($1)', [JSON.stringify(template)]);
  await client.query(truncatable);
  if (bare) await client.query(bareTables);
  await client.query(
    `do $$ begin create role ${role} login password 'bench'; exception when duplicate_object then null; end $$;
     select lanefold.grant_role('${role}', 'worker');
     grant select, insert, update on all tables in schema lanefold to ${role};
     grant select on bench_floor to ${role}`,
  );
  await client.end();
}

export async function readTemplate(pool: pg.Pool): Promise<Template> {
  const { rows } = await pool.query<{ template: Template }>('select template from bench_floor');
  return rows[0]!.template;
}

/** Leaves nothing to be vacuumed or flushed while the next system is measured. */
export async function clearFloor(databaseUrl: string, { commits }: Template): Promise<void> {
  const tables = new Set(commits.flat().map(({ table }) => table));
  const client = new pg.Client(databaseUrl);
  await client.connect();
  await client.query(`truncate ${[...tables].join(', ')}`);
  await client.query('checkpoint');
  await client.end();
}

export function floorUrl(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.username = role;
  url.password = 'bench';
  // A session keeps its plan while the tables grow, so the plan must suit tables of any size: a plan for the 500 runs of one
  // commit would read the whole table.
  const settings = [
    'enable_seqscan=off',
    'enable_hashjoin=off',
    'enable_mergejoin=off',
    'plan_cache_mode=force_generic_plan',
  ];
  url.searchParams.set('options', settings.map((setting) => `-c ${setting}`).join(' '));
  return url.href;
}
