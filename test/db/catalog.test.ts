// @module-tag slow
import { getTableConfig, PgTable } from 'drizzle-orm/pg-core';
import { is } from 'drizzle-orm';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as schema from '../../db/schema/index.ts';
import { packageRoot } from '../../src/base/environment.ts';
import { openLog, rows, type TestLog } from './helpers.ts';

let log: TestLog;
beforeAll(async () => void (log = await openLog()));
afterAll(() => log.drop());

const tables = Object.values<unknown>(schema).filter((value) => is(value, PgTable));

/** Small tables that concern no thread: each node may have them whole. */
const ofNoThread = new Set([
  '_agent_version',
  '_api_key',
  '_audit',
  '_role',
  '_rollout',
  '_secret',
  '_tenant',
  '_worker',
  'worker',
  // they name runs, but a bucket and its runs may be on different nodes
  '_limit',
  '_limit_account',
  '_limit_bucket',
  '_limit_share',
  '_limit_wait',
  'limit_usage',
  '_schedule',
  '_schedule_slot',
  'schedule',
  'schedule_slot',
  '_kept_event',
  '_case',
  'eval_case',
  '_eval',
  'eval',
  '_eval_item',
  'eval_item',
  '_eval_thread',
  '_monitor',
  'monitor',
  '_run_score',
  'run_score',
  '_activity',
  '_activity_fact',
  '_activity_state',
  'activity',
  'activity_fact',
  '_alarm',
  'alarm',
  '_alarm_count',
  'alarm_count',
  '_circuit',
  'circuit',
  '_webhook',
  'webhook',
  // some belong to a thread, but not all
  '_stream',
  '_stream_chunk',
  '_stream_producer',
]);

test('every unique index begins with the distribution key', async () => {
  const found = await rows<{ table: string; index: string; first: string }>(
    log.db,
    `select t.relname as table, c.relname as index, pg_get_indexdef(i.indexrelid, 1, true) as first
     from pg_index i join pg_class c on c.oid = i.indexrelid join pg_class t on t.oid = i.indrelid
     where t.relnamespace = 'lanefold'::regnamespace and i.indisunique`,
  );
  expect(new Set(found.map((row) => row.table)).size).toBe(tables.length);
  const ofThreads = found.filter((row) => !ofNoThread.has(row.table));
  expect(ofThreads.filter((row) => row.first !== (row.table === 'thread' ? 'id' : 'thread_id'))).toEqual([]);
});

test('every object without a leading underscore says what it offers', async () => {
  const found = await rows<{ name: string; comment: string | null }>(
    log.db,
    `select relname::text as name, obj_description(oid, 'pg_class') as comment from pg_class
     where relnamespace = 'lanefold'::regnamespace and relkind in ('r', 'v', 'm', 'p', 'S', 'f')
     union all
     select proname::text, obj_description(oid, 'pg_proc') from pg_proc where pronamespace = 'lanefold'::regnamespace
     union all
     select typname::text, obj_description(oid, 'pg_type') from pg_type where typnamespace = 'lanefold'::regnamespace and typtype in ('e', 'd')
     union all
     select nspname::text, obj_description(oid, 'pg_namespace') from pg_namespace where nspname = 'lanefold'`,
  );
  const offered = found.filter((row) => !row.name.startsWith('_'));
  expect(offered.map((row) => row.name)).toEqual(
    expect.arrayContaining(['thread', 'thread_entry', 'lane_context', 'lane_context_at', 'commit_step', 'lanefold']),
  );
  expect(offered.filter((row) => !row.comment).map((row) => row.name)).toEqual([]);
});

test('every trigger fires always, also for replication', async () => {
  const triggers = await rows<{ name: string; enabled: string }>(
    log.db,
    `select c.relname || '.' || tgname as name, tgenabled::text as enabled from pg_trigger t join pg_class c on c.oid = t.tgrelid
     where c.relnamespace = 'lanefold'::regnamespace and not tgisinternal`,
  );
  expect(triggers.length).toBeGreaterThanOrEqual(3);
  expect(triggers.filter((trigger) => trigger.enabled !== 'A')).toEqual([]);
});

test('every writer is VOLATILE and every reader is not', async () => {
  const found = await rows<{ name: string; volatile: boolean }>(
    log.db,
    `select proname::text as name, bool_or(provolatile = 'v') as volatile from pg_proc
     where pronamespace = 'lanefold'::regnamespace and proname !~ '^_' group by 1`,
  );
  const readers = found.filter((row) => !row.volatile).map((row) => row.name);
  expect(readers.sort()).toEqual(
    expect.arrayContaining(['lane_context_at', 'lanes_from_log', 'min_compatible_version', 'schema_version']),
  );
  for (const writer of [
    'append_entries',
    'append_history',
    'apply_operation',
    'cancel_run',
    'claim_failed',
    'claim_run',
    'commit_step',
    'create_thread',
    'enqueue_input',
    'enqueue_run',
    'erase_thread',
    'finish_run',
    'rebuild_lanes',
    'record_tool_call',
    'release_run',
    'renew_lease',
    'renew_leases',
    'record_versions',
    'report_worker',
    'queue_run_again',
  ]) {
    expect(
      found.find((row) => row.name === writer),
      writer,
    ).toMatchObject({ volatile: true });
  }
});

interface SqlFunction {
  name: string;
  language: string;
  first: string | null;
  trigger: boolean;
  volatility: string;
  /** Without comments. */
  body: string;
}

const functions = async (): Promise<SqlFunction[]> =>
  (
    await rows<SqlFunction>(
      log.db,
      `select p.proname::text as name, l.lanname::text as language, p.proargnames[1] as first, p.prorettype = 'trigger'::regtype as trigger,
         p.provolatile::text as volatility, p.prosrc as body
       from pg_proc p join pg_language l on l.oid = p.prolang where p.pronamespace = 'lanefold'::regnamespace`,
    )
  ).map((f) => ({ ...f, body: f.body.replaceAll(/--.*$/gm, '') }));

/** Functions that read or write tables or views, by themselves or through another function. */
async function onTables(): Promise<SqlFunction[]> {
  const all = await functions();
  const relations = await rows<{ name: string }>(
    log.db,
    "select relname::text as name from pg_class where relnamespace = 'lanefold'::regnamespace and relkind in ('r', 'v')",
  );
  const ofThreads = relations.filter(({ name }) => !ofNoThread.has(name));
  const names = ofThreads.map((row) => row.name).join('|');
  const found = new Set(
    all.filter((f) => new RegExp(`\\b(from|join|into|update|using)\\s+lanefold\\.(${names})\\b(?!\\()`).test(f.body)),
  );
  for (let before = 0; found.size > before;) {
    before = found.size;
    const callees = [...found].map((f) => f.name).join('|');
    for (const f of all) if (new RegExp(`\\blanefold\\.(${callees})\\(`).test(f.body)) found.add(f);
  }
  return [...found];
}

/** They count runs on the coordinator, which asks the nodes. */
const ofCounts = new Set(['count_activity', '_add_activity']);

const ofSlots = new Set([
  'start_eval',
  'cancel_eval',
  'rescore_eval',
  'remove_eval',
  '_changed_eval',
  'take_eval_items',
  'reserve_eval_item',
  'extend_eval_item',
  '_eval_budget_left',
  'plan_eval_run',
  'start_eval_item',
  'take_eval_scoring',
  'hold_eval_item',
  'await_eval_judge',
  'settle_eval_item',
  '_finish_eval',
  'drop_eval_thread',
  'take_eval_threads',
  '_note_eval_thread',
  'erase_evals',
  'set_monitor',
  'remove_monitor',
  '_drop_judges',
  'take_monitors',
  'advance_monitor',
  'store_run_score',
  'plan_judge',
  '_check_alert',
  'drop_run_scores',
  'set_alarm',
  'remove_alarm',
  'pause_alarm',
  'erase_alarms',
  '_changed_alarm',
  'take_alarms',
  'settle_alarm',
  '_clear_alarm',
  '_tell_alarm',
  '_note_alarm_count',
  'drop_alarm_counts',
  'report_circuits',
  'probe_circuit',
  'open_circuit',
  'close_circuit',
  'drop_circuits',
  '_write_circuit',
  '_new_circuit',
  '_change_circuit',
  '_tell_circuit',
  '_own_circuit',
  'keep_case',
  'update_case',
  'remove_case',
  'erase_cases',
  'advance_schedule',
  'take_slot',
  'settle_slot',
  '_note_slot',
  '_skip_slots',
  '_pass_slots',
  'set_schedule',
  'pause_schedule',
  'remove_schedule',
]);

/** It locks the thread of a stream, which is a row on another node, and writes rows of the coordinator. */
const ofStreams = new Set(['create_stream']);

test('no aggregate takes time in the square of the keys of an object that callers, models or tools decide', async () => {
  const found = await rows<{ name: string }>(
    log.db,
    `select proname::text as name from pg_proc where pronamespace = 'lanefold'::regnamespace
       and coalesce(prosrc, '') || coalesce(pg_get_function_sqlbody(oid), '') ~ 'jsonb_(object_)?agg\\('  order by 1`,
  );
  // these aggregate what the database makes itself, or what is bounded
  expect(found.map(({ name }) => name)).toEqual([
    '_change_interval',
    '_check_alert',
    '_endpoint_of',
    '_lacked_tools',
    '_name_set',
    '_note_lost_worker',
    '_take_or_wait',
    'cancel_eval',
    'erase_conversation',
    'open_endpoints',
    'rotate_webhook',
    'set_limit',
    'spread_event',
    'take_deliveries',
  ]);
});

test('every function on tables takes its thread first, so that a call can be routed to the thread', async () => {
  const found = await onTables();
  expect(found.length).toBeGreaterThan(40);
  // triggers are called by their table; a sharded database has no batches, renews each lease alone and asks all nodes what
  // is due for endpoints
  const routed = found
    .filter((f) => !f.trigger && f.first !== 'p_calls' && !['renew_leases', 'open_endpoints'].includes(f.name))
    // those of slots run on the coordinator, and only note a fact under a name that is no thread
    .filter((f) => !ofSlots.has(f.name) && !ofCounts.has(f.name) && !ofStreams.has(f.name));
  expect(routed.filter((f) => f.first !== 'p_thread_id').map((f) => f.name)).toEqual([]);
});

test('every function on tables is plpgsql: a sharded database cannot plan the others', async () => {
  expect((await onTables()).filter((f) => f.language !== 'plpgsql').map((f) => f.name)).toEqual([]);
});

test('no view calls a function of ours: whoever may read it needs no right on functions', async () => {
  const found = await rows<{ view: string; function: string }>(
    log.db,
    `select distinct r.ev_class::regclass::text as view, d.refobjid::regprocedure::text as function
     from pg_rewrite r join pg_class c on c.oid = r.ev_class
     join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid and d.refclassid = 'pg_proc'::regclass
     where c.relnamespace = 'lanefold'::regnamespace`,
  );
  expect(found).toEqual([]);
});

test('only _now reads a clock', async () => {
  const clocks =
    /\b(clock_timestamp|statement_timestamp|transaction_timestamp|timeofday|(?<!_)now)\s*\(|current_timestamp/;
  expect((await functions()).filter((f) => clocks.test(f.body)).map((f) => f.name)).toEqual(['_now']);
  const defaults = await rows<{ column: string }>(
    log.db,
    `select adrelid::regclass || '.' || adnum as column from pg_attrdef d join pg_class c on c.oid = d.adrelid
     where c.relnamespace = 'lanefold'::regnamespace and pg_get_expr(adbin, adrelid) ~ 'now|timestamp'`,
  );
  expect(defaults).toEqual([]);
});

/** The CASE and COALESCE expressions of a text, as far as text can tell: nested ones are part of the outer one. */
const conditional = (text: string): string[] => [
  ...(text.match(/\bcase\b[\s\S]*?\bend\b/g) ?? []),
  ...(text.match(/\bcoalesce\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)/g) ?? []),
];

test('no CASE or COALESCE of a write has a stable or volatile call: a sharded database refuses it', async () => {
  const builtins = await rows<{ name: string }>(
    log.db,
    `select proname::text as name from pg_proc where pronamespace = 'pg_catalog'::regnamespace and prokind = 'f'
     group by proname having bool_and(provolatile <> 'i') and proname ~ '^[a-z_0-9]+$'`,
  );
  const all = await functions();
  const changing = all.filter((f) => f.volatility !== 'i').map((f) => `lanefold\\.${f.name}`);
  const refused = new RegExp(`\\b(${[...builtins.map((b) => b.name), ...changing].join('|')})\\s*\\(|\\binterval\\b`);
  const found = all.flatMap((f) =>
    // what is said in a plpgsql condition or assignment is not part of a statement on tables
    (f.body.match(/\b(insert into|update|delete from) lanefold\.[\s\S]*?;/g) ?? [])
      .map((statement) =>
        statement.replace(/\)\s*select (?:jsonb_agg|coalesce\(to_jsonb\(array_agg|to_jsonb\(array_agg)[\s\S]*$/, ''),
      )
      .flatMap(conditional)
      .filter((expression) => refused.test(expression))
      .map((expression) => `${f.name}: ${expression}`),
  );
  expect(found).toEqual([]);
});

test('the columns of the database are those of the Drizzle schema', async () => {
  const inDatabase = await rows<{ table: string; column: string; type: string; required: boolean }>(
    log.db,
    `select c.relname as table, a.attname as column, format_type(a.atttypid, null) as type, a.attnotnull as required
     from pg_attribute a join pg_class c on c.oid = a.attrelid
     where c.relnamespace = 'lanefold'::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped`,
  );
  const inSchema = tables.flatMap((table) => {
    const { name, columns } = getTableConfig(table);
    return columns.map((column) => ({
      table: name,
      column: column.name,
      type: sqlType(column.getSQLType()),
      required: column.notNull,
    }));
  });
  const byName = (a: { table: string; column: string }, b: typeof a) =>
    `${a.table}.${a.column}`.localeCompare(`${b.table}.${b.column}`);
  expect(inSchema.sort(byName)).toEqual(inDatabase.map((row) => ({ ...row })).sort(byName));
});

const sqlType = (type: string): string =>
  type.replace(' COLLATE "C"', '').replace(/^timestamptz$/, 'timestamp with time zone');

test('_run_of names the columns of a run in the order of the table', async () => {
  const columns = await rows<{ name: string }>(
    log.db,
    `select attname::text as name from pg_attribute where attrelid = 'lanefold._run'::regclass and attnum > 0 and not attisdropped
     order by attnum`,
  );
  const runOf = (await functions()).find(({ name }) => name === '_run_of')!;
  const named = [...runOf.body.matchAll(/ as (\w+)(?=[,;]$)/gm)].map(([, name]) => name);
  expect(named).toEqual(columns.map(({ name }) => name));
});

test('_run_of gives a run that has only begun the defaults of the table', async () => {
  const found = await rows<{ column: string }>(
    log.db,
    `with made as (
       select to_jsonb(r) as run from lanefold._run_of('t', 'default', 'default', lanefold._now(), '{"request_hash": ""}') r
     )
     select a.attname::text as column from pg_attribute a
     left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
     cross join made m
     where a.attrelid = 'lanefold._run'::regclass and a.attnum > 0 and not a.attisdropped
       and coalesce(m.run ->> a.attname, 'null') <>
         coalesce(substring(pg_get_expr(d.adbin, d.adrelid) from '^''?(.*?)''?(?:::.*)?$'), 'null')
     order by 1`,
  );
  // what a request decides, and that the run is queued and active
  expect(found.map(({ column }) => column)).toEqual([
    'active',
    'context_ref',
    'created_at',
    'enqueue_no',
    'enqueued_at',
    'ready_at',
    'request_hash',
    'status',
    'thread_id',
  ]);
});

test('the migrations are what drizzle-kit makes of the schema', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'lanefold-migrations-'));
  try {
    // drizzle-kit writes below the folder it is given, relative to where it runs
    await cp(path.join(packageRoot, 'db/migrations'), folder, { recursive: true });
    const before = (await readdir(folder, { recursive: true })).sort();
    const out = path.relative(packageRoot, folder);
    const kit = path.join(packageRoot, 'node_modules/drizzle-kit/bin.cjs');
    const arguments_ = [kit, 'generate', '--dialect', 'postgresql', '--schema', './db/schema/index.ts', '--out', out];
    const { stdout } = await promisify(execFile)(process.execPath, arguments_, { cwd: packageRoot, timeout: 50_000 });
    expect(stdout).toContain('No schema changes');
    expect((await readdir(folder, { recursive: true })).sort()).toEqual(before);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
