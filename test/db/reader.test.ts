import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from '../../src/database/postgres/pool.ts';
import { migrate } from '../../src/database/store/schema/migrate.ts';
import { reportWorker } from '../../src/database/store/worker/find-lacking.ts';
import { statements, urlAs } from '../support/citus.ts';
import { onCitus } from '../support/services.ts';
import { newThread, rows, useLog, value, workerReport } from './helpers.ts';
import { answer, asks, results, sqlRun } from './sql-run.ts';

const log = useLog();
const role = `reader_${randomBytes(4).toString('hex')}`;
/** The statements that docs/reference/sql.md gives, for a role of this test. */
const granting = /```sql grant\n([^]*?)```/
  .exec(readFileSync('docs/reference/sql.md', 'utf8'))![1]!
  .replace('role reader login', `role ${role} login password 'r'`)
  .replace("('reader'", `('${role}'`)
  .replace('acme', 'default');
let reader: pg.Client;
let threadId: string;
let contentId: string;

beforeAll(async () => {
  log.db.settings.largeContentBytes = 4_096;
  threadId = await newThread(log, { systemPrompt: 'p' });
  await log.threads.append(threadId, [{ message: { role: 'user', content: 'long '.repeat(1_000) } }]);
  contentId = await value<string>(log.db, 'select id from lanefold.content where thread_id = $1', threadId);
  const run = sqlRun(log.db, threadId, 'run');
  await run.enqueue();
  await run.claim();
  await run.commit(0, asks(['a']));
  await run.commit(1, results(['a']));
  await run.commit(2, { ...answer('done'), nodes: [{ node: 1, status: 'open' }] });
  await value(log.db, 'select lanefold.give_feedback($1, $2)', threadId, '{"run_id": "run", "rating": "up"}');
  await reportWorker(log.db, workerReport('w'));
  await log.pool.query(granting);
  reader = new pg.Client({ connectionString: urlAs(log.url, role, 'r') });
  await reader.connect();
});
afterAll(async () => {
  await reader.end();
  await log.pool.query(`drop owned by ${role}; drop role ${role}`);
});

const relations = (condition: string) =>
  rows<{ name: string }>(
    log.db,
    `select relname::text as name from pg_class where relnamespace = 'lanefold'::regnamespace and relkind in ('r', 'v') and ${condition}`,
  ).then((found) => found.map(({ name }) => name));

interface Signature {
  name: string;
  types: string[];
}

const functions = (condition: string) =>
  rows<Signature>(
    log.db,
    `select proname::text as name, array(select format_type(t, null) from unnest(proargtypes) t) as types
     from pg_proc where pronamespace = 'lanefold'::regnamespace and proname !~ '^_' and ${condition}`,
  );

/** A call whose first argument is the thread, then the run or the lane, and numbers of 100. */
const call = ({ name, types }: Signature): string =>
  `select * from lanefold.${name}(${types
    .map((type, i) => {
      if (i === 0 && type === 'text') return `'${threadId}'`;
      if (name === 'read_content' && i === 1) return `'${contentId}'`;
      if (type === 'text') return name.startsWith('lane') ? "'default'" : "'run'";
      return /int/.test(type) ? '100' : `null::${type}`;
    })
    .join(', ')})`;

const outcome = (statement: string): Promise<string> =>
  reader.query(statement).then(
    ({ rowCount }) => `${rowCount} rows`,
    (error: { code: string }) => error.code,
  );

/** SQLSTATE of insufficient privilege. */
const denied = '42501';
const ofOperators = ['api_key', 'audit'];

test('the documented grant lets a role read every public view and table but those of the operator', async () => {
  const names = await relations("relname !~ '^_'");
  expect(names).toEqual(expect.arrayContaining(['lane_context', 'run', 'run_event', 'thread', 'thread_entry']));
  // this thread has none of the first two, workers and versions belong to no tenant, this one has set no limits and schedules, and no
  // call of it waits
  const empty = [
    'context_op',
    'pending_input',
    'worker',
    'agent_version',
    'rollout',
    'limit_usage',
    'limit_holder',
    'schedule',
    'schedule_slot',
    'eval_case',
    'eval',
    'eval_item',
    'monitor',
    'run_score',
    'activity',
    'activity_fact',
    'alarm',
    'alarm_count',
    'circuit',
    'run_wait',
    'run_tree',
    'webhook',
    'webhook_delivery',
  ];
  for (const name of names) {
    const read = await outcome(`select * from lanefold.${name}`);
    if (ofOperators.includes(name)) {
      expect(read, name).toBe(denied);
      continue;
    }
    expect(read, name).toMatch(empty.includes(name) ? /^0 rows/ : /^[1-9]\d* rows/);
  }
});

test('the documented grant lets a role call every public function that reads', async () => {
  const grant = (tenant: string) => log.pool.query("select lanefold.grant_role($1, 'reader', $2)", [role, tenant]);
  // there, a reader of one tenant may call none
  if (onCitus) await grant('*');
  const readers = await functions("provolatile <> 'v' and not lanefold._is_for_workers(proname)");
  expect(readers.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['lane_context_at', 'new_events', 'run_ended']),
  );
  for (const signature of readers) expect(await outcome(call(signature)), signature.name).toMatch(/^\d+ rows/);
  if (onCitus) await grant('default');
});

test('a role with it can read no private table, and write nothing', async () => {
  // on Citus, the nodes read the tables of its views with its rights
  const ofViews = onCitus ? await rows<{ oid: string }>(log.db, 'select lanefold._read_by_readers(true) as oid') : [];
  const hidden = await relations(`relname ~ '^_' and oid <> all ('{${ofViews.map(({ oid }) => oid).join()}}')`);
  expect(hidden).toContain('_api_key');
  for (const name of hidden) expect(await outcome(`select from lanefold.${name}`), name).toBe(denied);
  const writable = await rows(
    log.db,
    `select relname from pg_class where relnamespace = 'lanefold'::regnamespace and relkind in ('r', 'v')
       and has_table_privilege($1, oid, 'insert, update, delete, truncate, references, trigger')`,
    role,
  );
  expect(writable).toEqual([]);
  const writers = await functions(onCitus ? 'prosecdef' : "provolatile = 'v'");
  expect(writers.length).toBeGreaterThan(20);
  for (const signature of writers) expect(await outcome(call(signature)), signature.name).toBe(denied);
});

test('the right to use the schema alone reads nothing', async () => {
  const poor = `poor_${randomBytes(4).toString('hex')}`;
  await log.pool.query(`create role ${poor} login; grant usage on schema lanefold to ${poor}`);
  const client = new pg.Client({ connectionString: log.url });
  await client.connect();
  try {
    await client.query(`set role ${poor}`);
    for (const signature of await functions("provolatile <> 'v' and proname !~ 'version'"))
      await expect(client.query(call(signature)), signature.name).rejects.toMatchObject({ code: '42501' });
  } finally {
    await client.end();
    await log.pool.query(`drop owned by ${poor}; drop role ${poor}`);
  }
});

test('a role granted by hand reads no row: it has no tenant', async () => {
  const poor = `poor_${randomBytes(4).toString('hex')}`;
  await log.pool.query(`create role ${poor} login password 'p'; grant usage on schema lanefold to ${poor};
    grant select on all tables in schema lanefold to ${poor}; grant execute on all functions in schema lanefold to ${poor}`);
  await log.pool.query(`revoke execute on function lanefold._all_tenants() from ${poor}`);
  const client = new pg.Client({ connectionString: urlAs(log.url, poor, 'p') });
  await client.connect();
  try {
    for (const name of await relations('true')) {
      await client.query("set lanefold.tenant = '*'");
      expect((await client.query(`select * from lanefold.${name}`)).rowCount, name).toBe(0);
    }
  } finally {
    await client.end();
    await log.pool.query(`drop owned by ${poor}; drop role ${poor}`);
  }
});

test('a role of workers keeps its rights over a migration', async () => {
  const worker = `worker_${randomBytes(4).toString('hex')}`;
  await log.pool.query(`create role ${worker} login password 'w'; select lanefold.grant_role('${worker}', 'worker');
    revoke execute on all functions in schema lanefold from ${worker};
    comment on function lanefold._lock_thread(text) is 'of another version'`);
  const db = openDatabase({ url: urlAs(log.url, worker, 'w'), max: 1 });
  try {
    expect(await migrate(log.url)).toMatchObject({ status: 'migrated' });
    const run = sqlRun(db, threadId, 'second');
    await run.enqueue();
    expect(await run.claim()).toMatchObject({ claimed: true, context: expect.arrayContaining([]) });
    await run.commit(0, answer('done'));
  } finally {
    await db.close();
    await statements(log.url, `select lanefold.revoke_role('${worker}')`, `drop role ${worker}`);
  }
});
