import type pg from 'pg';
import { LanefoldError } from '../../../base/errors.ts';
import { isDistributed } from './version.ts';

/** Policies and functions read these on every node, so each has a full copy. Other tables without threads are local. */
const onEveryNode = ['_role', '_tenant', '_limit', '_webhook'];

/** Tables of threads with their distribution column; `thread` first, because the others are colocated with it. */
const findTables = `
  select k.oid::regclass::text as name, case k.relname when 'thread' then 'id' else 'thread_id' end as key
  from pg_class k join pg_index i on i.indrelid = k.oid and i.indisprimary
  join pg_attribute a on a.attrelid = k.oid and a.attnum = i.indkey[0]
  where k.relnamespace = 'lanefold'::regnamespace and k.relkind = 'r' and (a.attname = 'thread_id' or k.relname = 'thread')
    and not exists (select from pg_dist_partition d where d.logicalrelid = k.oid)
  order by k.relname <> 'thread', k.relname`;

const findReferences = `
  select k.oid::regclass::text as name from pg_class k
  where k.relnamespace = 'lanefold'::regnamespace and k.relname = any ($1)
    and not exists (select from pg_dist_partition d where d.logicalrelid = k.oid)
  order by array_position($1, k.relname)`;

/**
 * Functions that are called with a thread and work on that thread alone. Functions that write the audit or read the workers
 * are not among them: they run on the coordinator, which has these tables.
 */
const findFunctions = `
  select p.oid::regprocedure::text as name
  from pg_proc p join pg_dist_object o on o.classid = 'pg_proc'::regclass and o.objid = p.oid
  where p.pronamespace = 'lanefold'::regnamespace and (p.proname !~ '^_' or p.proname = '_for_tenant') and p.proargnames[1] = 'p_thread_id'
    and not 'p_other_thread_id' = any (p.proargnames) and p.prosrc !~ 'write_audit|unattended_' and o.distribution_argument_index is null`;

/**
 * Nodes connect to each other as the owner of the tables, so it must be able to log in. Without a password it can do so
 * only if the nodes trust each other.
 */
const ownerMayConnect = `
  do $$
  declare
    v_owner constant name := (
      select r.rolname from pg_namespace n join pg_roles r on r.oid = n.nspowner where n.nspname = 'lanefold');
  begin
    if current_setting('is_superuser') = 'on' and not (select rolcanlogin from pg_roles where rolname = v_owner) then
      execute format('alter role %I login', v_owner);
    end if;
  end $$`;

export async function hasCitus(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query("select from pg_extension where extname = 'citus'");
  return rows.length > 0;
}

/** Whether the tables hold threads and are all on this node: then they are distributed only on request. */
export async function isFilled(client: pg.Client): Promise<boolean> {
  if (await isDistributed(client)) return false;
  const { rows } = await client.query('select from lanefold.thread limit 1');
  return rows.length > 0;
}

/**
 * Distributes by thread the tables that are not distributed yet. Each table has a separate transaction, which is undone
 * if a row is missing or differs afterwards, so this may be repeated. Returns whether there was anything to distribute:
 * then functions that take rows of these tables have to be created again, because other nodes lack them.
 *
 * @throws LanefoldError `database_error`
 */
export async function distributeTables(client: pg.Client): Promise<boolean> {
  const tables = (await client.query<{ name: string; key: string }>(findTables)).rows;
  const references = (await client.query<{ name: string }>(findReferences, [onEveryNode])).rows;
  if (tables.length + references.length === 0) return false;
  await client.query('comment on function lanefold._lock_thread(text) is null'); // see applySql
  await client.query(ownerMayConnect);
  await client.query('set citus.enable_unsafe_triggers = on');
  // these come first: the policies of all other tables read them
  for (const { name } of references)
    await unchanged(client, name, () => client.query('select create_reference_table($1)', [name]));
  for (const { name, key } of tables) {
    const colocated = key === 'id' ? '' : ", colocate_with => 'lanefold.thread'";
    await unchanged(client, name, () =>
      client.query(`select create_distributed_table($1, $2${colocated})`, [name, key]),
    );
  }
  return true;
}

/** Runs `work` on a table, and commits only if none of the rows changed. */
async function unchanged(client: pg.Client, table: string, work: () => Promise<unknown>): Promise<void> {
  const sum = async () =>
    (
      await client.query<{ rows: string; hash: string }>(
        `select count(*) as rows, sum(hashtextextended(to_jsonb(t)::text, 0)) as hash from ${table} t`,
      )
    ).rows[0]!;
  await client.query('begin');
  await client.query(`lock table ${table} in exclusive mode`);
  const before = await sum();
  await work();
  const after = await sum();
  if (before.rows !== after.rows || before.hash !== after.hash) {
    throw new LanefoldError(
      'database_error',
      `Table ${table} changed while it was being distributed; nothing was committed.`,
      {
        hint: 'The table is unchanged. Please report this.',
        details: { before, after },
      },
    );
  }
  await client.query('commit');
}

/**
 * @throws LanefoldError `database_busy` while processes of Lanefold are connected: they would not see all of their rows
 */
export async function assertAlone(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select distinct application_name as name from pg_stat_activity
     where datname = current_database() and application_name like 'lanefold%' and pid <> pg_backend_pid()`,
  );
  if (rows.length === 0) return;
  throw new LanefoldError(
    'database_busy',
    `Sessions of ${rows.map(({ name }) => name).join(', ')} are connected to the database.`,
    {
      hint: 'Nothing was changed. Stop every process of Lanefold, then distribute again.',
    },
  );
}

/**
 * Leaves readers only what they may do on a distributed database, before it is one: see _give_rights.
 *
 * @throws LanefoldError `role_unfit` if the policy of `_role` hides the readers from this session
 */
export async function restrictReaders(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ role: string; sees: boolean }>(
    "select session_user::text as role, has_function_privilege(session_user, 'lanefold._all_tenants()', 'execute') as sees",
  );
  const { role, sees } = rows[0]!;
  if (!sees) {
    throw new LanefoldError(
      'role_unfit',
      `Role ${role} does not see which roles are readers, so it cannot restrict them.`,
      {
        hint: 'Nothing was distributed. Migrate as a role that inherits the rights of lanefold_owner.',
      },
    );
  }
  await client.query(
    `select lanefold._give_rights(name, duty) from lanefold._role
     where duty = 'reader' and to_regrole(quote_ident(name)) is not null`,
  );
}

/**
 * Before threads are distributed, gives each one copies of the large texts that another thread keeps for it: afterwards
 * that thread may be on another node.
 */
export async function separateContents(client: pg.Client): Promise<void> {
  await client.query(
    `update lanefold.content f set text = c.text, home_thread_id = null
     from lanefold.content c where c.thread_id = f.home_thread_id and c.id = f.id`,
  );
}

/**
 * Frees the space that distributed tables still occupy on this node. Disables the triggers that keep the log from being
 * truncated, because they protect the local copy too.
 */
export async function dropLocalCopies(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string; triggers: string[] }>(
    `select d.logicalrelid::text as name, array(select tgname::text from pg_trigger t
       where t.tgrelid = d.logicalrelid and not t.tgisinternal and t.tgtype & 32 = 32) as triggers
     from pg_dist_partition d join pg_class c on c.oid = d.logicalrelid
     where c.relnamespace = 'lanefold'::regnamespace and pg_relation_size(c.oid) > 0`,
  );
  for (const { name, triggers } of rows) {
    const all = (what: string) => triggers.map((trigger) => `alter table ${name} ${what} trigger ${trigger}`);
    await client.query('begin');
    await client.query('set local citus.enable_ddl_propagation = off');
    for (const statement of all('disable')) await client.query(statement);
    await client.query('select truncate_local_data_after_distributing_table($1)', [name]);
    for (const statement of all('enable always')) await client.query(statement);
    await client.query('commit');
  }
}

/** Lets the node that has a thread execute whole functions of that thread. Returns whether there was anything to do. */
export async function distributeFunctions(client: pg.Client): Promise<boolean> {
  const functions = (await client.query<{ name: string }>(findFunctions)).rows;
  for (const { name } of functions) {
    await client.query(
      "select create_distributed_function($1::regprocedure, 'p_thread_id', colocate_with => 'lanefold.thread')",
      [name],
    );
  }
  const planned = await planOnNodes(client);
  const roles = await readRolesOnNodes(client);
  return functions.length > 0 || planned || roles;
}

/** Distributed functions whose setting is another than `$1`. */
const findOthers = `
  select p.oid::regprocedure::text as name
  from pg_proc p join pg_dist_object o on o.classid = 'pg_proc'::regclass and o.objid = p.oid
  where p.pronamespace = 'lanefold'::regnamespace and o.distribution_argument_index is not null
    and coalesce((select s from unnest(p.proconfig) s where s like 'plan_cache_mode=%'), '') <> $1`;

/**
 * Makes Citus nodes replan the statements of distributed functions on every execution, on versions whose plan cache
 * leaks: there, each call caches a plan of 150 kB that is never used again. On other versions it removes any setting,
 * because cached plans are faster, and a generic plan that is forced asks the shards of every thread, on nodes that may
 * be down. Returns whether it changed anything.
 */
export async function planOnNodes(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ version: string }>('select citus_version() as version');
  const eachTime = keepsEveryPlan(rows[0]!.version);
  const change = eachTime ? 'set plan_cache_mode = force_custom_plan' : 'reset plan_cache_mode';
  const wanted = eachTime ? 'plan_cache_mode=force_custom_plan' : '';
  const others = (await client.query<{ name: string }>(findOthers, [wanted])).rows;
  for (const { name } of others) await client.query(`alter function ${name} ${change}`);
  return others.length > 0;
}

/**
 * Whether Citus has the fault: from 13.2.1 (citusdata/citus#8371) to 14.0.1, without the fix (citusdata/citus#8824).
 *
 * @param version as `citus_version()` has it: `Citus 13.2.2 on …`
 */
export function keepsEveryPlan(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = (/(?<!\d)(\d+)\.(\d+)(?:\.(\d+))?/.exec(version) ?? [])
    .slice(1)
    .map(Number);
  const number = (major * 100 + minor) * 100 + (patch || 0);
  return number >= 13_02_01 && number <= 14_00_01;
}

const allowed = `
  select from pg_proc where oid = 'lanefold._bound_tenant()'::regprocedure
    and proconfig @> '{citus.allow_nested_distributed_execution=on}'`;

/**
 * Lets the policies of Citus nodes read the tenant of a reader: each node has all of `_role`, but Citus takes a query on
 * it, within one on a shard, for a distributed one. Returns whether it changed anything.
 */
export async function readRolesOnNodes(client: pg.Client): Promise<boolean> {
  if ((await client.query(allowed)).rowCount) return false;
  await client.query('alter function lanefold._bound_tenant() set citus.allow_nested_distributed_execution = on');
  return true;
}
