// @module-tag slow
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readSessionRights } from '../../src/database/store/role/session-rights.ts';
import { recordVersions } from '../../src/database/store/agent/versions.ts';
import { reportWorker } from '../../src/database/store/worker/find-lacking.ts';
import { statements, urlAs } from '../support/citus.ts';
import { citusLacks } from '../support/citus-lacks.ts';
import { onCitus } from '../support/services.ts';
import { everythingOf, rows, useLog, value, workerReport } from './helpers.ts';
import { answer, asks, input, results, sqlRun } from './sql-run.ts';

// The leak suite is made from the catalog: what is added to the schema is in it.

const log = useLog();
const suffix = randomBytes(4).toString('hex');
const duties = ['worker', 'api', 'reader'] as const;
type Duty = (typeof duties)[number];
const roles = Object.fromEntries(duties.map((duty) => [duty, `${duty}_${suffix}`])) as Record<Duty, string>;
const sessions = {} as Record<Duty, pg.Client>;

/** A thread of a tenant with rows in every table. */
async function fill(tenant: string): Promise<void> {
  log.db.settings.largeContentBytes = 4_096;
  const id = `thread-of-${tenant}`;
  const on = log.db;
  await log.threads.create({ id, tenantId: tenant, systemPrompt: `secret of ${tenant}` });
  await log.threads.append(id, [{ message: { role: 'user', content: 'x' } }], { opId: 'k' });
  await log.threads.append(id, [{ message: { role: 'user', content: `secret of ${tenant} `.repeat(300) } }]);
  await log.contexts.replace(id, { entries: [{ role: 'user', content: `secret of ${tenant}` }] });
  const run = sqlRun(on, id, 'ended');
  await run.enqueue();
  await input(on, id, 'i1', 'and this');
  await run.claim();
  await run.commit(0, asks(['a']));
  const wait = { kind: 'spawn', child: { thread_id: id, run_id: 'queued', agent: `secret of ${tenant}` }, request: {} };
  await run.record(1, 0, { status: 'ok', attempts: 1, outcome: { content: 'x' }, wait });
  await run.commit(1, results(['a']));
  await run.commit(2, {
    ...answer(`secret of ${tenant}`),
    nodes: [{ node: 1, status: 'open', content: `secret of ${tenant}` }],
  });
  await rows(
    on,
    'select lanefold.give_feedback($1, $2)',
    id,
    JSON.stringify({ run_id: 'ended', comment: `secret of ${tenant}` }),
  );
  const parent = {
    thread_id: id,
    run_id: 'ended',
    round: 1,
    index: 0,
    root_thread_id: id,
    root_run_id: 'ended',
    depth: 1,
  };
  await sqlRun(on, id, 'queued').enqueue({ parent });
  await rows(on, 'select lanefold.keep_event($1, $2, $3, 1000, null)', tenant, 'e', `secret of ${tenant}`);
  await rows(on, 'select lanefold.create_key($1, $2)', Buffer.from(tenant), {
    id: `key-of-${tenant}`,
    name: `secret of ${tenant}`,
    allowed: { scopes: ['read'] },
    created_by: 'operator',
    tenant_id: tenant,
  });
  await rows(on, 'select lanefold.configure_tenant($1, $2)', tenant, { runs: 100 });
  await fillLimits(tenant);
  await fillSchedules(tenant);
  await fillCases(tenant);
  await fillWebhooks(tenant);
  await fillMonitors(tenant);
  await fillActivity(tenant);
  await fillAlarms(tenant);
  await fillStreams(tenant);
  await rows(on, 'select lanefold.write_audit($1)', {
    actor: 'operator',
    action: 'x',
    tenant_id: tenant,
    thread_id: id,
  });
}

/** A case of a tenant. */
async function fillCases(tenant: string): Promise<void> {
  const source = {
    thread_id: `thread-of-${tenant}`,
    run_id: 'ended',
    llm_call_id: 'ended.1',
    seq: 0,
    context_ref: 'default',
  };
  const kept = { dataset: 'd', kind: 'run', agent: 'a', model: 'm', context_hash: 'x', tags: [], by: 'x' };
  const given = { ...source, ...kept, note: `secret of ${tenant}` };
  await rows(log.db, 'select lanefold.keep_case($1, $2, $3)', tenant, `case-of-${tenant}`, given);
  const of = { case_id: `case-of-${tenant}`, thread_id: `thread-of-${tenant}` };
  const items = [{ ...of, variant: 'v', agent: 'a', repeat: 1, tags: [`secret of ${tenant}`] }];
  const id = `eval-of-${tenant}`;
  const spec = {
    dataset: 'd',
    queue_prefix: 'lf',
    spec: { note: `secret of ${tenant}` },
    concurrency: 1,
    by: 'x',
    items,
  };
  await rows(log.db, 'select lanefold.start_eval($1, $2, $3)', tenant, id, spec);
  const [row] = await rows<{ item: { taken_at: string } }>(
    log.db,
    `select lanefold.take_eval_items($1, '["a"]', 1000) as item`,
    id,
  );
  const run = { tenant, thread_id: `thread-of-${tenant}`, run_id: 'ended' };
  await rows(log.db, 'select lanefold.start_eval_item($1, 1, $2, $3)', id, row!.item.taken_at, run);
}

/** A monitor of a tenant, which has scored a run. */
async function fillMonitors(tenant: string): Promise<void> {
  const name = `monitor-of-${tenant}`;
  const given = {
    queue_prefix: 'lf',
    agents: [],
    sample: 1,
    scorers: ['short'],
    rubric: `secret of ${tenant}`,
    by: 'x',
  };
  await rows(log.db, 'select lanefold.set_monitor($1, $2, $3)', tenant, name, given);
  const of = { thread_id: `thread-of-${tenant}`, run_id: 'ended', agent: 'a', ended_at: '2026-01-01T06:00:00Z' };
  const score = { ...of, status: 'done', score: 1, scores: [{ scorer: 'short', reason: `secret of ${tenant}` }] };
  await rows(log.db, 'select lanefold.store_run_score($1, $2, $3)', tenant, name, score);
}

/** What is counted of a tenant. */
async function fillActivity(tenant: string): Promise<void> {
  await rows(
    log.db,
    `insert into lanefold._activity (minutes, at, tenant_id, agent, agent_version, model, runs, failed, unanswered, started, waited_ms, calls,
       input_tokens, output_tokens, cached_tokens, written_tokens)
     select m, '2026-01-01T06:00:00Z', $1, 'secret of ' || $1, '', 'm', 1, 0, 0, 0, 0, 0, 0, 0, 0, 0 from unnest(array[1, 60]) m`,
    tenant,
  );
  await rows(
    log.db,
    `insert into lanefold._activity_fact (minutes, at, tenant_id, agent, agent_version, fact, value, runs, last_at)
     select m, '2026-01-01T06:00:00Z', $1, 'secret of ' || $1, '', 'mark', 'cut', 1, '2026-01-01T06:00:00Z' from unnest(array[1, 60]) m`,
    tenant,
  );
}

/** An alarm of a tenant, which has been counted. */
async function fillAlarms(tenant: string): Promise<void> {
  const name = `alarm-of-${tenant}`;
  const given = {
    filter: { agent: `secret of ${tenant}` },
    more_than: 9,
    within_ms: 60_000,
    clear_after_ms: 0,
    by: 'x',
  };
  await rows(log.db, 'select lanefold.set_alarm($1, $2, $3)', tenant, name, given);
  await rows(
    log.db,
    `select lanefold.settle_alarm(a ->> 'tenant_id', a ->> 'name', (a ->> 'taken_at')::timestamptz, '{"runs": 1, "newest": []}', 0)
     from lanefold.take_alarms(1000, 10) a`,
  );
}

/** A schedule of a tenant with a slot that has started a run. */
async function fillSchedules(tenant: string): Promise<void> {
  const name = `secret-of-${tenant}`;
  const thread = `thread-of-${tenant}`;
  const slot = '2026-01-01T06:00:00Z';
  const schedule = {
    agent: 'a',
    overlap: 'skip',
    timing: { cron: '@daily' },
    definition: { input: 'x' },
    next_at: slot,
  };
  const given = { ...schedule, thread_id: thread, source: 'user', by: 'x' };
  await rows(log.db, 'select lanefold.set_schedule($1, $2, $3)', tenant, name, given);
  const slots = JSON.stringify([{ slot, status: 'due' }]);
  await rows(
    log.db,
    'select lanefold.advance_schedule($1, $2, 1, $3, $4, $5)',
    tenant,
    name,
    slot,
    '2099-01-01',
    slots,
  );
  const take = 'select lanefold.take_slot($1, $2, $3, $4, false, 1000) as taken';
  const [row] = await rows<{ taken: { taken_at: string } }>(log.db, take, tenant, name, slot, '["a"]');
  const outcome = { status: 'fired', thread_id: thread, run_id: 'ended' };
  await rows(
    log.db,
    'select lanefold.settle_slot($1, $2, $3, $4, $5)',
    tenant,
    name,
    slot,
    row!.taken.taken_at,
    outcome,
  );
}

/** An endpoint of a tenant with a delivery. */
async function fillWebhooks(tenant: string): Promise<void> {
  const name = `secret-of-${tenant}`;
  const thread = `thread-of-${tenant}`;
  const webhook = { url: 'https://example.com', types: [], agents: [], ordered: false, include_result: true };
  const given = { ...webhook, by: 'x' };
  await rows(log.db, 'select lanefold.set_webhook($1, $2, $3, $4)', tenant, name, `webhook-of-${tenant}`, given);
  await rows(log.db, 'select lanefold.test_webhook($1, $2, $3, $4)', thread, tenant, `webhook-of-${tenant}`, 'x');
  const note = "select lanefold._note_event($1, $2, 'run.completed', 'agent', 'key', '{}')";
  await rows(log.db, note, thread, tenant);
}

const newStream = JSON.stringify({
  content_type: 'text/plain',
  media_type: 'text/plain',
  closed: false,
  asked: { ttl_s: null, ends_at: null, from: null, offset: null, sub_offset: 0 },
});
const append = JSON.stringify({ media_type: 'text/plain', producer: { id: 'p', epoch: 0, seq: 0 }, close: false });

/** A stream in the thread of a tenant, with a producer. */
async function fillStreams(tenant: string): Promise<void> {
  const thread = `thread-of-${tenant}`;
  const secret = [Buffer.from(`secret of ${tenant}`)];
  await rows(log.db, 'select lanefold.create_stream($1, $2, $3, $4)', thread, 'secret', newStream, secret);
  await rows(log.db, 'select lanefold.append_stream($1, $2, $3, $4)', thread, 'secret', append, secret);
}

/** A limit of a tenant for which a run has waited and another one waits, so that it has rows in every table of limits. */
async function fillLimits(tenant: string): Promise<void> {
  const limit = { kind: 'concurrency', scope: {}, amount: 1, share_by: 'customer', by: `secret of ${tenant}` };
  await rows(log.db, 'select lanefold.set_limit($1, $2, $3)', tenant, 'slots', limit);
  const version = await value<number>(log.db, 'select max(version)::int from lanefold._limit');
  const place = `${tenant} slots `;
  const take = { version, take: [[place, 1]], shares: { [place]: 'c' }, job: { enqueue_no: 1 } };
  for (const call of [
    { run_id: 'first', ...take },
    { run_id: 'ended', ...take },
    { run_id: 'first', end: {} },
    { run_id: 'ended', granted: place },
    { run_id: 'waits', ...take },
  ])
    await rows(
      log.db,
      'select lanefold.use_limits($1)',
      JSON.stringify([{ thread_id: `thread-of-${tenant}`, ...call }]),
    );
}

beforeAll(async () => {
  for (const tenant of ['acme', 'bolt']) await fill(tenant);
  await reportWorker(log.db, workerReport('w'));
  await recordVersions(log.db, [{ agent: 'support', id: 'v_1', definition: {} }]);
  await rows(log.db, `select lanefold.open_circuit('secret:model', '{"reason": "x", "by": "x"}')`);
  for (const [duty, role] of Object.entries(roles)) {
    await log.pool.query(`create role ${role} login password 'p'`);
    await rows(log.db, 'select lanefold.grant_role($1, $2, $3)', role, duty, duty === 'reader' ? 'acme' : null);
    const client = new pg.Client({ connectionString: urlOf(role) });
    await client.connect();
    sessions[duty as Duty] = client;
  }
});
afterAll(async () => {
  for (const client of Object.values(sessions)) await client.end();
  for (const role of Object.values(roles))
    await statements(log.url, `select lanefold.revoke_role('${role}')`, `drop role ${role}`);
});

const urlOf = (role: string): string => urlAs(log.url, role, 'p');

/** For whom a session acts: to other nodes only a transaction tells it, see docs/run/scaling.md. */
const acting = new Map<pg.Client, string>();
async function actFor(client: pg.Client, tenant: string | null): Promise<void> {
  if (tenant === null) acting.delete(client);
  else acting.set(client, tenant);
  if (!onCitus) await client.query(tenant === null ? 'reset lanefold.tenant' : `set lanefold.tenant = '${tenant}'`);
}
async function ask(client: pg.Client, statement: string, values?: unknown[]): Promise<pg.QueryResult> {
  const tenant = acting.get(client);
  if (!onCitus || tenant === undefined) return client.query(statement, values);
  await client.query('begin');
  try {
    await client.query("set local citus.propagate_set_commands = 'local'");
    await client.query(`set local lanefold.tenant = '${tenant}'`);
    return await client.query(statement, values);
  } finally {
    await client.query('commit');
  }
}

/** All but the roles, of which a session sees its own, and what has no tenant: see below. */
const relations = (condition = 'true') =>
  rows<{ name: string; kind: string }>(
    log.db,
    `select relname::text as name, relkind::text as kind from pg_class
     where relnamespace = 'lanefold'::regnamespace and relkind in ('r', 'p', 'v') and relname not in ('_role', '_secret', '_worker', 'worker', '_limit_account', '_activity_state', '_agent_version', 'agent_version', '_rollout', 'rollout', '_circuit', 'circuit'${citusLacks.holders ? ", 'limit_holder'" : ''}) and ${condition}`,
  );

/** The column with the tenant: a limit may belong to the operator too, but not the run that holds it. */
const tenantOf = (name: string): string => (/^_?limit/.test(name) && name !== 'limit_holder' ? 'owner' : 'tenant_id');

interface Signature {
  name: string;
  types: string[];
  volatile: boolean;
}
const functions = () =>
  rows<Signature>(
    log.db,
    `select proname::text as name, provolatile = 'v' as volatile,
       array(select format_type(t, null) from unnest(proargtypes) t) as types
     from pg_proc where pronamespace = 'lanefold'::regnamespace and proname !~ '^_' and proargnames[1] = 'p_thread_id'`,
  );

/** A call with arguments that fit a run, a lane or an object. */
const call = ({ name, types }: Signature, threadId: string): string =>
  `select * from lanefold.${name}(${types
    .map((type, i) => {
      if (i === 0) return `'${threadId}'`;
      if (type === 'text') return name.startsWith('lane') ? "'default'" : "'queued'";
      if (type === 'text[]') return "'{queued}'";
      if (type === 'jsonb')
        return `'{"run_id": "other", "request_id": "other", "request_hash": "aa", "create_thread": false}'`;
      return type === 'boolean' ? 'false' : '1';
    })
    .join(', ')})`;

async function outcome(client: pg.Client, statement: string, hide = 'nowhere'): Promise<string> {
  const said = await ask(client, statement).then(
    ({ rows: found }) => JSON.stringify(found),
    (error: { code: string; message: string }) => `${error.code} ${error.message}`,
  );
  return said.replaceAll(hide, '…');
}

/** What a reader may not read: it is the operator's. */
const ofOperators = ['api_key', 'audit'];

test('every table has rows of both tenants, those of threads with the tenant of the thread', async () => {
  for (const { name } of await relations("relkind <> 'v'")) {
    const tenant = tenantOf(name);
    const named =
      ['_tenant', '_kept_event', '_stream_chunk', '_stream_producer'].includes(name) || tenant === 'owner'
        ? `'thread-of-' || ${tenant}`
        : undefined;
    const thread =
      {
        _api_key: "replace(id, 'key-', 'thread-')",
        _eval: "replace(id, 'eval-', 'thread-')",
        _webhook: "replace(id, 'webhook-', 'thread-')",
        _monitor: "replace(name, 'monitor-', 'thread-')",
        _activity: "replace(agent, 'secret of ', 'thread-of-')",
        _activity_fact: "replace(agent, 'secret of ', 'thread-of-')",
        _alarm: "replace(name, 'alarm-', 'thread-')",
        _alarm_count: "replace(alarm, 'alarm-', 'thread-')",
        thread: 'id',
      }[name] ??
      named ??
      'thread_id';
    expect(
      await rows(
        log.db,
        // what changes a schedule is about no thread
        `select distinct ${thread} as thread, ${tenant} as tenant_id from lanefold.${name} where ${thread} is not null order by 1`,
      ),
      name,
    ).toEqual(['acme', 'bolt'].map((tenant) => ({ thread: `thread-of-${tenant}`, tenant_id: tenant })));
  }
});

test('every insert of a function names the tenant', async () => {
  const found = await rows<{ name: string; body: string }>(
    log.db,
    "select proname::text as name, prosrc as body from pg_proc where pronamespace = 'lanefold'::regnamespace",
  );
  const inserts = found.flatMap(({ name, body }) =>
    [
      ...body.matchAll(
        /insert into lanefold\.(?!_role|_worker|_agent_version|_rollout|_limit|_circuit)\w+ \(([^)]*)\)/g,
      ),
    ].map((match) => ({
      name,
      columns: match[1]!,
    })),
  );
  expect(inserts.length).toBeGreaterThan(15);
  expect(inserts.filter(({ columns }) => !/\btenant_id\b/.test(columns))).toEqual([]);
});

test('the policies bind the owner of every table, and as it every view and function works', async () => {
  const rights = await readSessionRights(log.pool);
  expect(rights).toMatchObject({ owner: 'lanefold_owner', ownerBypasses: false, unprotected: [] });
  const others = await rows(
    log.db,
    `select relname::text from pg_class where relnamespace = 'lanefold'::regnamespace and relowner <> 'lanefold_owner'::regrole
     union all select proname::text from pg_proc where pronamespace = 'lanefold'::regnamespace and proowner <> 'lanefold_owner'::regrole`,
  );
  expect(others).toEqual([]);
  // the view would be read with the rights of the reader, who has none on private tables
  expect(await relations("reloptions::text ~ 'security_invoker'")).toEqual([]);
});

test('everybody may execute nothing but the versions and what triggers call, and what others may has a search_path of its own', async () => {
  const callable = await rows<{ name: string; public: boolean; path: boolean; language: string }>(
    log.db,
    `select p.proname::text as name, bool_or(a.grantee = 0) as public, l.lanname::text as language,
       coalesce(p.proconfig::text ~ 'search_path' and p.prosecdef, false) as path
     from pg_proc p join pg_language l on l.oid = p.prolang
     cross join lateral aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
     where p.pronamespace = 'lanefold'::regnamespace and a.grantee <> p.proowner group by p.oid, l.lanname`,
  );
  const everybodys = ['_fail', '_may_erase', 'min_compatible_version', 'schema_version'];
  expect(
    callable
      .filter((f) => f.public)
      .map((f) => f.name)
      .sort(),
  ).toEqual(everybodys);
  // those read no table, or are what policies ask
  const inPlace = [
    '_agent_queue',
    '_all_tenants',
    '_any_tenant',
    '_chooses_tenant',
    '_delivery_id',
    '_for_tenant',
    '_has_tools',
    '_lease_over',
    '_now',
    '_sees_all',
  ];
  expect(
    callable.filter((f) => !f.path && ![...inPlace, ...everybodys, '_lane_prompt'].includes(f.name)).map((f) => f.name),
  ).toEqual([]);
});

test.each(duties)('a %s reads no row of another tenant', async (duty) => {
  const client = sessions[duty];
  await actFor(client, 'acme');
  for (const { name } of await relations(duty === 'reader' ? "relname !~ '^_'" : 'true')) {
    if (duty === 'reader' && ofOperators.includes(name)) continue;
    const tenant = tenantOf(name);
    const { rows: found } = await ask(client, `select distinct ${tenant} as tenant_id from lanefold.${name}`);
    expect(found, name).toEqual([{ tenant_id: 'acme' }]);
    // Citus refuses an equality beside that of a policy
    expect((await ask(client, `select from lanefold.${name} where ${tenant} = any ('{bolt}')`)).rowCount, name).toBe(0);
  }
  for (const signature of await functions()) {
    if (signature.volatile) continue;
    const other = await outcome(client, call(signature, 'thread-of-bolt'), 'thread-of-bolt');
    expect(other, signature.name).toBe(await outcome(client, call(signature, 'nowhere'), 'nowhere'));
  }
});

test('no function that a reader or an API may execute answers with what another tenant has, whatever it is asked', async () => {
  const found = await rows<{ name: string; args: string[]; volatile: boolean }>(
    log.db,
    `select proname::text as name, provolatile = 'v' as volatile,
       -- for all there is: since ever, as many as possible
       array(select case when t <> 'int4'::regtype then 'null' when n = 'p_ms' then '0' else '1000' end
         from unnest(proargtypes::oid[], proargnames) with ordinality as x (t, n, place) where t is not null order by place) as args
     from pg_proc where pronamespace = 'lanefold'::regnamespace and proname !~ '^_' and coalesce(proargnames[1], '') <> 'p_thread_id'
       and (provolatile <> 'v' or proname = 'idle_limit_accounts') order by 1`,
  );
  const answers = async (client: pg.Client) => {
    const all: Record<string, string> = {};
    for (const { name, args } of found)
      all[name] = await outcome(client, `select * from lanefold.${name}(${args.join(', ')})`);
    return all;
  };
  await actFor(sessions.worker, '');
  expect((await answers(sessions.worker))['holding_limit_accounts']).toContain('thread-of-bolt');
  for (const duty of ['api', 'reader'] as const) {
    await actFor(sessions[duty], 'acme');
    for (const [name, answer] of Object.entries(await answers(sessions[duty]))) {
      expect([duty, name, answer.includes('bolt')]).toEqual([duty, name, false]);
      if (name.endsWith('_limit_accounts')) expect(answer).toMatch(/^42501/);
    }
  }
});

test.each(duties)('a %s writes no row of another tenant', async (duty) => {
  const client = sessions[duty];
  await actFor(client, 'acme');
  const before = await everythingOf(log.db, 'thread-of-bolt');
  for (const signature of (await functions()).filter(
    (f) => f.volatile && !['create_thread', 'create_fork', 'import_thread', 'attempt'].includes(f.name),
  )) {
    const other = await outcome(client, call(signature, 'thread-of-bolt'), 'thread-of-bolt');
    expect(other, signature.name).toBe(await outcome(client, call(signature, 'nowhere'), 'nowhere'));
  }
  const fork = { parent_thread_id: 'p', fork_seq: 0, config: [], state: {}, lanes: [] };
  const copy = { entries: [], contents: [], request_hash: '' };
  for (const [name, given] of Object.entries({ create_thread: {}, create_fork: fork, import_thread: copy })) {
    const create = (id: string, tenant: string) =>
      outcome(client, `select lanefold.${name}('${id}', '${JSON.stringify({ ...given, tenant_id: tenant })}')`);
    expect(await create('thread-of-bolt', 'acme'), name).toMatch(duty === 'reader' ? /^42501/ : /^LF002/);
    expect(await create('new', 'bolt'), name).toMatch(/^42501/);
  }
  expect(await everythingOf(log.db, 'thread-of-bolt')).toEqual(before);
});

test.each(['worker', 'api'] as const)('a %s reads, writes and deletes no stream of another tenant', async (duty) => {
  const client = sessions[duty];
  await actFor(client, 'acme');
  const all = () => rows(log.db, "select tail, deleted_at from lanefold._stream where tenant_id = 'bolt'");
  const before = await all();
  for (const statement of [
    "read_stream('thread-of-bolt', 'secret', 0, 1000)",
    `append_stream('thread-of-bolt', 'secret', '${append}', array['x'::bytea])`,
    "delete_stream('thread-of-bolt', 'secret')",
    `create_stream('thread-of-bolt', 'secret', '${newStream}', array[]::bytea[])`,
    "erase_streams('thread-of-bolt')",
    'drop_expired_streams(100)',
  ]) {
    const other = await outcome(client, `select * from lanefold.${statement}`, 'thread-of-bolt');
    const none = statement.replaceAll('thread-of-bolt', 'nowhere');
    expect(other, statement).toBe(await outcome(client, `select * from lanefold.${none}`, 'nowhere'));
  }
  expect(await all()).toEqual(before);
  expect(before).toHaveLength(1);
  await actFor(client, null);
});

test('a batch executes for an API only what it may call', async () => {
  await actFor(sessions.api, 'acme');
  for (const name of ['claim_run', 'commit_step', 'finish_run', 'record_tool_call'])
    expect(
      (await sessions.api.query(`select error from lanefold.attempt('thread-of-acme', '${name}', '["queued", 1, {}]')`))
        .rows,
      name,
    ).toMatchObject([{ error: { code: '42501' } }]);
  const refused = async (duty: Duty, name: string, args: unknown[]) => {
    const batch = JSON.stringify([{ thread_id: 'thread-of-acme', function: name, args }]);
    const { rows: answers } = await sessions[duty].query('select error from lanefold.attempt_all($1)', [batch]);
    return (answers as { error: { code: string } | null }[])[0]!.error?.code;
  };
  // a setting of a transaction that is over is empty, not null
  await actFor(sessions.api, '');
  const request = { run_id: 'r', request_id: 'r', request_hash: 'aa', agent: 'a', strategy: 'react', model: 'm' };
  const orphan = { ...request, input: { content: 'x' }, options: {}, create_thread: true };
  const batch = JSON.stringify([{ thread_id: 'thread-of-nobody', function: 'enqueue_run', args: [orphan] }]);
  const { rows: created } = await sessions.api.query('select error from lanefold.attempt_all($1)', [batch]);
  expect(created).toMatchObject([{ error: { code: expect.any(String) } }]);
  expect(await rows(log.db, "select tenant_id from lanefold.thread where id = 'thread-of-nobody'")).toEqual([]);
  await actFor(sessions.api, null);
  expect(await refused('api', 'commit_step', ['running', 1, 0, 6000, { events: [] }])).toBe('42501');
  expect(await refused('api', 'claim_run', ['queued', 1, { lease_ms: 6000 }])).toBe('42501');
});

test.each(['thread', 'eval_case', 'eval', 'eval_item'])(
  'no tenant, all tenants and another tenant, by what the role may: %s',
  async (view) => {
    const seen = async (duty: Duty, tenant: string) => {
      await actFor(sessions[duty], tenant);
      const { rows: found } = await ask(sessions[duty], `select distinct tenant_id from lanefold.${view} order by 1`);
      return found.map((row: { tenant_id: string }) => row.tenant_id);
    };
    expect(await seen('worker', '')).toEqual(['acme', 'bolt']);
    expect(await seen('worker', '*')).toEqual(['acme', 'bolt']);
    expect(await seen('worker', 'bolt')).toEqual(['bolt']);
    expect(await seen('api', '')).toEqual([]);
    expect(await seen('api', '*')).toEqual([]);
    expect(await seen('api', 'bolt')).toEqual(['bolt']);
    for (const tenant of ['', '*', 'bolt']) expect(await seen('reader', tenant)).toEqual(['acme']);
    await actFor(sessions.api, null);
    expect((await sessions.api.query('select from lanefold.run')).rowCount).toBe(0);
  },
);

test.each(['worker', 'api'] as const)(
  'a %s sees what runs hold of limits only while it acts for no tenant',
  async (duty) => {
    const seen = async (tenant: string) => {
      await actFor(sessions[duty], tenant);
      return (await ask(sessions[duty], 'select from lanefold._limit_account')).rowCount;
    };
    expect(await seen('acme')).toBe(0);
    expect(await seen('')).toBe(4);
    await actFor(sessions[duty], null);
  },
);

test.skipIf(citusLacks.holders)(
  'a session of a tenant sees its own runs among the holders of the operator’s limit, and no other',
  async () => {
    const limit = { kind: 'concurrency', scope: {}, amount: 9, by: 'x' };
    const version = await value<number>(log.db, "select lanefold.set_limit('*', 'all', $1)::int", limit);
    for (const tenant of ['acme', 'bolt']) {
      const call = { thread_id: `thread-of-${tenant}`, run_id: 'ended', version, take: [['* all ', 1]] };
      await rows(log.db, 'select lanefold.use_limits($1)', JSON.stringify([call]));
    }
    const holders = async (client: pg.Client) =>
      (await ask(client, "select thread_id from lanefold.limit_holder where owner = '*' order by 1")).rows.map(
        (row: { thread_id: string }) => row.thread_id,
      );
    const ofBoth = ['thread-of-acme', 'thread-of-bolt'];
    for (const duty of ['worker', 'api'] as const) {
      await actFor(sessions[duty], 'bolt');
      expect(await holders(sessions[duty])).toEqual(['thread-of-bolt']);
      await actFor(sessions[duty], '*');
      expect(await holders(sessions[duty])).toEqual(duty === 'worker' ? ofBoth : []);
      await actFor(sessions[duty], null);
    }
    // of acme
    expect(await holders(sessions.reader)).toEqual(['thread-of-acme']);
    await rows(log.db, "select lanefold.remove_limit('*', 'all', 'x')");
    await rows(log.db, "delete from lanefold._limit where name = 'all'");
  },
);

test('for no tenant, an API sees the limits of all, as a worker does; a tenant’s session sets only its own', async () => {
  for (const duty of ['worker', 'api'] as const) {
    await actFor(sessions[duty], '');
    const { rows: found } = await ask(sessions[duty], 'select owner from lanefold.limit_usage order by 1');
    expect(found).toEqual([{ owner: 'acme' }, { owner: 'bolt' }]);
    await actFor(sessions[duty], 'acme');
    const limit = JSON.stringify({ kind: 'concurrency', scope: {}, amount: 0, by: 'x' });
    for (const owner of ['bolt', '*']) {
      expect(await outcome(sessions[duty], `select lanefold.set_limit('${owner}', 'slots', '${limit}')`)).toMatch(
        /^LF014/,
      );
      expect(await outcome(sessions[duty], `select lanefold.remove_limit('${owner}', 'slots', 'x')`)).toMatch(/^LF014/);
    }
    await actFor(sessions[duty], null);
  }
});

test.each(duties)('a %s sees workers, and their agents and hosts, only while it acts for no tenant', async (duty) => {
  const seen = async (tenant: string) => {
    await actFor(sessions[duty], tenant);
    return (await ask(sessions[duty], 'select id from lanefold.worker')).rowCount;
  };
  expect(await seen('acme')).toBe(0);
  expect(await seen('')).toBe(duty === 'reader' ? 0 : 1);
  await actFor(sessions[duty], null);
  if (duty !== 'reader') return;
  const grant = (tenant: string) =>
    log.pool.query('select lanefold.grant_role($1, $2, $3)', [roles.reader, duty, tenant]);
  await grant('*');
  expect(await seen('')).toBe(1);
  await grant('acme');
});

test.skipIf(onCitus)('no name that a reader makes for itself lets it see more', async () => {
  const reader = new pg.Client({ connectionString: urlOf(roles.reader) });
  await reader.connect();
  try {
    // types of a session come before those of PostgreSQL, and so do functions whose arguments fit better
    await reader.query(`
      create type pg_temp.regprocedure as enum ('lanefold._all_tenants()', 'lanefold._any_tenant()');
      create function pg_temp.everybody(pg_temp.regprocedure) returns oid language sql immutable
        as 'select ''pg_catalog.now()''::pg_catalog.regprocedure::oid';
      create cast (pg_temp.regprocedure as oid) with function pg_temp.everybody(pg_temp.regprocedure) as implicit`);
    const { rows: found } = await reader.query('select distinct tenant_id from lanefold.thread_entry');
    expect(found).toEqual([{ tenant_id: 'acme' }]);
  } finally {
    await reader.end();
  }
});

test('an open session whose role gets another duty sees from its next statement on what that duty may', async () => {
  const turned = `turned_${randomBytes(4).toString('hex')}`;
  const grant = (duty: Duty, tenant: string | null = null) =>
    log.pool.query('select lanefold.grant_role($1, $2, $3)', [turned, duty, tenant]);
  await log.pool.query(`create role ${turned} login password 'p'`);
  await grant('worker');
  const client = new pg.Client({ connectionString: urlOf(turned) });
  await client.connect();
  const seen = async () => {
    const { rows: found } = await client.query({ name: 'threads', text: 'select id from lanefold.thread order by 1' });
    const { rows: context } = await client.query({
      name: 'lanes',
      text: `select from lanefold.lane_context_at('thread-of-bolt', 'default', 100)`,
    });
    return [...found.map((row: { id: string }) => row.id), context.length > 0];
  };
  try {
    expect(await seen()).toEqual(['thread-of-acme', 'thread-of-bolt', true]);
    if (!onCitus) {
      await grant('reader', 'acme');
      expect(await seen()).toEqual(['thread-of-acme', false]);
      await grant('reader', '*');
      expect(await seen()).toEqual(['thread-of-acme', 'thread-of-bolt', true]);
    }
    await grant('api');
    expect(await seen()).toEqual([false]);
  } finally {
    await client.end();
    await log.pool.query(`select lanefold.revoke_role('${turned}')`);
    await log.pool.query(`drop role ${turned}`);
  }
});

test('nobody but the owner may write a table', async () => {
  const writable = await rows(
    log.db,
    `select r as role, relname from pg_class, unnest($1::text[]) r
     where relnamespace = 'lanefold'::regnamespace and relkind in ('r', 'p', 'v')
       and has_table_privilege(r, oid, 'insert, update, delete, truncate, references, trigger')`,
    Object.values(roles),
  );
  expect(writable).toEqual([]);
});

// what each takes away must be noticed: by the rows that appear, or by the check a process makes when it starts
const mutations = [
  ...[
    'thread',
    '_entry',
    '_run',
    '_run_node',
    '_run_mark',
    '_tool_call',
    '_event_batch',
    '_lane',
    'context_op',
    'pending_input',
    'content',
    '_append_receipt',
    '_api_key',
    '_audit',
    '_tenant',
    '_worker',
    '_agent_version',
    '_limit',
    '_limit_bucket',
    '_limit_share',
    '_limit_wait',
    '_limit_account',
    '_schedule',
    '_schedule_slot',
    '_case',
    '_eval',
    '_eval_item',
    '_eval_thread',
    '_monitor',
    '_run_score',
    '_activity',
    '_activity_fact',
    '_alarm',
    '_alarm_count',
    '_circuit',
    '_wait',
    '_child_run',
    '_kept_event',
    '_webhook',
    '_webhook_delivery',
    '_webhook_event',
    '_stream',
    '_stream_chunk',
    '_stream_producer',
  ].flatMap((table) => [
    `alter table lanefold.${table} disable row level security`,
    `alter table lanefold.${table} no force row level security`,
    `create policy open on lanefold.${table} using (true)`,
    `drop policy tenant on lanefold.${table}; create policy tenant on lanefold.${table} using (true)`,
  ]),
  'alter role lanefold_owner bypassrls',
  'alter view lanefold.run owner to postgres',
  'alter function lanefold.lane_context_at(text, text, bigint) owner to postgres',
];

// a superuser whose session is that of another user is the superuser to the nodes
test.skipIf(onCitus)('whatever protects the rows, without it a leak shows', async () => {
  const noticed = async (client: pg.PoolClient): Promise<boolean> => {
    const { unprotected, ownerBypasses } = await readSessionRights(client);
    if (unprotected.length > 0 || ownerBypasses) return true;
    await client.query(
      `set local session authorization ${roles.api}; set local lanefold.tenant = 'acme'; discard plans`,
    );
    for (const { name } of await relations()) {
      const { rowCount } = await client.query(`select from lanefold.${name} where ${tenantOf(name)} = 'bolt' limit 1`);
      if (rowCount) return true;
    }
    for (const name of ['worker', 'agent_version', 'circuit', '_limit_account']) {
      const { rowCount } = await client.query(`select from lanefold.${name}`);
      if (rowCount) return true;
    }
    const { rowCount } = await client.query(`select from lanefold.lane_context_at('thread-of-bolt', 'default', 100)`);
    return Boolean(rowCount);
  };
  const client = await log.pool.connect();
  const quiet: string[] = [];
  for (const mutation of ['select 1', ...mutations]) {
    await client.query('begin');
    await client.query(mutation);
    if (!(await noticed(client))) quiet.push(mutation);
    await client.query('rollback');
  }
  client.release();
  expect(quiet).toEqual(['select 1']);
  const tables = [
    ...(await relations("relkind <> 'v'")),
    { name: '_worker' },
    { name: '_agent_version' },
    { name: '_circuit' },
    { name: '_limit_account' },
  ];
  expect(tables.filter(({ name }) => !mutations.some((mutation) => mutation.includes(`.${name} `)))).toEqual([]);
});
