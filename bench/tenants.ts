import { openDatabase, type Database } from '../src/postgres/pool.ts';
import { scopeOf } from '../src/library/tenant.ts';
import { readSessionRights } from '../src/store/role/session-rights.ts';
import type { Servers } from './setup.ts';
import { text400 } from './workload.ts';

const batches = 60;
const runsPerBatch = 10;

/**
 * Measures what tenants and the chain cost a run in the database: the statements of a run with one tool, on one connection, in
 * turn with the same on a database whose policies are off. The fastest batch of each counts, because others disturb and
 * nothing speeds up.
 */
export async function tenants(servers: Servers): Promise<void> {
  const open = async (): Promise<Database> =>
    openDatabase({ url: `${await servers.database()}?options=-c%20synchronous_commit%3Doff`, max: 1 });
  const bare = await open();
  await bare.pool.query(`do $$ declare c regclass; begin
    for c in select oid from pg_class where relnamespace = 'lanefold'::regnamespace and relkind = 'r' loop
      execute format('alter table %s disable row level security', c);
    end loop; end $$`);
  const own = await open();
  const rights = await readSessionRights(own.pool);
  await own.pool.query(`select lanefold.configure_tenant('chained', '{"chained": true}')`);
  const ways: [what: string, db: Database, tenant: string][] = [
    ['policies off', bare, 'default'],
    ['policies on, all tenants', own, 'default'],
    ['policies on, one tenant', own.forTenant(scopeOf('acme', rights)), 'acme'],
    ['policies on, with chain', own, 'chained'],
  ];
  const best = ways.map(() => Infinity);
  for (let batch = 0; batch < batches; batch++) {
    for (const [i, [, db, tenant]] of ways.entries()) {
      const startedAt = performance.now();
      for (let n = 0; n < runsPerBatch; n++) await runOnce(db, tenant, `${tenant}-${batch}-${n}`);
      best[i] = Math.min(best[i]!, (performance.now() - startedAt) / runsPerBatch);
    }
  }
  console.log(`\nA run with one tool in the database, best of ${batches} batches of ${runsPerBatch} in turn`);
  for (const [i, [what]] of ways.entries())
    console.log(`${what.padEnd(26)} ${best[i]!.toFixed(3)} ms  ${((100 * best[0]!) / best[i]!).toFixed(1)} %`);
  await Promise.all([bare.close(), own.close()]);
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
    ...{ worker_id: 'w', lease_ms: 60_000, prompt: 'Be kind.', config_fingerprint: 'f' },
    max_claims_without_progress: 5,
  });
  await commit(0, {
    entries: [{ role: 'assistant', payload: { content: '', tool_calls: [toolCall] } }],
    ...{ events: llm, calls: [{ index: 0, id: 'a', name: 'tool' }], round: 1, state: { phase: 'tools', round: 1 } },
  });
  await commit(1, {
    entries: [{ role: 'tool', payload: { tool_call_id: 'a', name: 'tool', content: text400 } }],
    ...{ outcomes: [{ status: 'ok', attempts: 1, duration_ms: 3 }], results_at: 0, round: 1 },
    state: { phase: 'llm', round: 1 },
  });
  await commit(2, {
    entries: [{ role: 'assistant', payload: { content: text400 } }],
    ...{ events: llm, finish: { status: 'completed', reason: 'final_answer' } },
  });
}
