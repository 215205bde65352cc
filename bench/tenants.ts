import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { migrate } from 'lanefold';
import { openDatabase, type Database } from '../src/database/postgres/pool.ts';
import { tenantScope } from '../src/runs/operations/access/tenant-scope.ts';
import { readSessionRights } from '../src/database/store/role/session-rights.ts';
import type { Servers } from './setup.ts';
import { median } from './support/median.ts';
import { printRelativeSpeed } from './support/relative-speed.ts';
import { sideBySide, type Contestant } from './support/side-by-side.ts';
import { text400 } from './workload.ts';

const warmUps = 100;
const rounds = 400;

/** Measures the cost of tenants and the chain per run, in the database alone and in total. */
export async function tenants(servers: Servers): Promise<void> {
  await inTheDatabase(servers);
  await wholeRuns(servers);
}

interface Way {
  what: string;
  db: Database;
  tenant: string;
  spent: number[];
}

/**
 * Executes the statements of a run with one tool on one connection, alternating with a database whose policies are off.
 * Workers log in with a worker role, because policies do not bind superusers. Results are compared round by round,
 * because other load on the machine then affects all of them.
 */
async function inTheDatabase(servers: Servers): Promise<void> {
  const ways = [
    await open(servers, 'policies off', 'default', policiesOff),
    await open(servers, 'policies on, all tenants', 'default'),
    await open(servers, 'policies on, one tenant', 'acme'),
    await open(servers, 'policies on, with chain', 'default', chained),
  ];
  ways[2]!.db = ways[2]!.db.forTenant(tenantScope('acme', await readSessionRights(ways[2]!.db.pool)));
  for (let round = -warmUps; round < rounds; round++) {
    for (let i = 0; i < ways.length; i++) {
      const way = ways[(round + warmUps + i) % ways.length]!;
      const startedAt = performance.now();
      await runOnce(way.db, way.tenant, `run-${round + warmUps}`);
      if (round >= 0) way.spent.push(performance.now() - startedAt);
    }
  }
  const bare = ways[0]!.spent;
  console.log(
    `\nStatements of a run with one tool: median of ${rounds} alternating rounds; speed relative to policies off`,
  );
  for (const { what, spent, db } of ways) {
    const speed = median(spent.map((ms, round) => bare[round]! / ms));
    console.log(`${what.padEnd(26)} ${median(spent).toFixed(3)} ms  ${(100 * speed).toFixed(1)} %`);
    await db.close();
  }
}

const policiesOff = `do $$ declare c regclass; begin
  for c in select oid from pg_class where relnamespace = 'lanefold'::regnamespace and relkind = 'r' loop
    execute format('alter table %s disable row level security', c);
  end loop; end $$`;

const chained = `select lanefold.configure_tenant('default', '{"chained": true}')`;

async function wholeRuns(servers: Servers): Promise<void> {
  const prepare = (sql: string) => async (url: string) => {
    await migrate(url);
    const admin = new pg.Client(url);
    await admin.connect();
    await admin.query(sql);
    await admin.end();
  };
  const file = fileURLToPath(new URL('systems/lanefold.js', import.meta.url));
  const usesRedis = servers.redisUrl !== undefined;
  const contestants: Contestant[] = [
    { name: 'policies off', file, usesRedis, prepare: prepare(policiesOff) },
    { name: 'policies on', file, usesRedis },
    { name: 'policies on, with chain', file, usesRedis, prepare: prepare(chained) },
  ];
  const concurrencies = [10, 50] as const;
  const figuresOf = await sideBySide(servers, contestants, { rounds: 7, seconds: 3, warmUpSeconds: 3, concurrencies });
  console.log('\nWhole runs of three steps; speed relative to policies off, median of 7 rounds compared one by one');
  printRelativeSpeed(figuresOf, contestants, concurrencies);
}

async function open(servers: Servers, what: string, tenant: string, prepare = 'select 1'): Promise<Way> {
  const url = new URL(await servers.database());
  const admin = new pg.Client(url.href);
  await admin.connect();
  const role = `worker_of_${url.pathname.slice(1)}`;
  await admin.query(`create role ${role} login password 'bench'`);
  await admin.query(`select lanefold.grant_role($1, 'worker')`, [role]);
  await admin.query(prepare);
  await admin.end();
  url.username = role;
  url.password = 'bench';
  url.searchParams.set('options', '-c synchronous_commit=off');
  return { what, db: openDatabase({ url: url.href, max: 1 }), tenant, spent: [] };
}

async function runOnce(db: Database, tenant: string, id: string): Promise<void> {
  const call = (name: string, ...values: unknown[]) =>
    db.query(name, `select lanefold.${name}(${values.map((_, i) => `$${i + 1}`).join(', ')})`, values);
  const ids = { run_id: 'run', request_id: 'run', request_hash: 'aa' };
  const what = { agent: 'agent', strategy: 'react', model: 'scripted:x', input: { content: text400 } };
  const commit = (step: number, body: object) =>
    call('commit_step', id, 'run', 1, step, 60_000, { iteration: 1, state: { phase: 'llm' }, ...body });
  const llm = [{ k: 'llm_completed', i: 1, e: 0 }];
  const toolCall = { id: 'a', name: 'tool', arguments: { of: 'order' } };
  await call('enqueue_run', id, { ...ids, ...what, create_thread: true, tenant_id: tenant });
  await call('claim_run', id, 'run', 1, {
    worker_id: 'w',
    lease_ms: 60_000,
    prompt: 'Be kind.',
    config_fingerprint: 'f',
    max_claims_without_progress: 5,
    alone: true,
    strategies: ['react'],
  });
  await commit(0, {
    entries: [{ role: 'assistant', payload: { content: '', tool_calls: [toolCall] } }],
    events: llm,
    calls: [{ index: 0, id: 'a', name: 'tool' }],
    round: 1,
    state: { phase: 'tools', round: 1 },
  });
  await commit(1, {
    entries: [{ role: 'tool', payload: { tool_call_id: 'a', name: 'tool', content: text400 } }],
    outcomes: [{ status: 'ok', attempts: 1, duration_ms: 3 }],
    results_at: 0,
    round: 1,
    state: { phase: 'llm', round: 1 },
  });
  await commit(2, {
    entries: [{ role: 'assistant', payload: { content: text400 } }],
    events: llm,
    finish: { status: 'completed', reason: 'final_answer' },
  });
}
