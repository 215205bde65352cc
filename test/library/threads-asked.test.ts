import { randomBytes } from 'node:crypto';
import { createLanefold, defineAgent, type Lanefold } from 'lanefold';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listThreads } from '../../src/database/store/log/list-threads.ts';
import type { Database } from '../../src/database/postgres/pool.ts';
import { planNodes, type Explained } from '../db/plan.ts';
import { citusLacks } from '../support/citus-lacks.ts';
import { statements, urlAs } from '../support/citus.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';

const agent = defineAgent({ name: 'agent', model: 'scripted:["done"]' });
const role = `api_${randomBytes(4).toString('hex')}`;
let operator: TestLanefold;
let api: Lanefold;

beforeAll(async () => {
  operator = await startLanefold({ agents: [agent] });
  await operator.database.pool.query(
    `create role ${role} login password 'a'; select lanefold.grant_role('${role}', 'api')`,
  );
  api = await createLanefold({ ...operator.options, databaseUrl: urlAs(operator.database.url, role, 'a') });
  for (const tenantId of ['acme', 'bolt']) {
    const of = operator.forTenant(tenantId);
    for (const name of ['a', 'b', 'c', 'd', 'e']) await of.threads.create({ id: `${tenantId}-${name}` });
    for (const name of ['c', 'a', 'b', 'c', 'a'])
      await of.runs.enqueue({ agent: 'agent', threadId: `${tenantId}-${name}`, input: 'x', busy: 'wait' });
  }
});
afterAll(async () => {
  await api?.close();
  await statements(operator.database.url, `select lanefold.revoke_role('${role}')`, `drop role ${role}`);
  await operator.close();
});

const order = 'asked' as const;
/** Those with runs by their newest, among those without by their creation. */
const asked = ['a', 'c', 'b', 'e', 'd'];
type Lists = Pick<Lanefold['threads'], 'list'>;

/** All pages, one thread each. */
async function pages(threads: Lists, filter = {}): Promise<string[]> {
  const ids: string[] = [];
  for (let after: string | null | undefined; after !== null;) {
    const { data, nextAfter } = await threads.list({ ...filter, order, limit: 1, ...(after ? { after } : {}) });
    ids.push(...data.map(({ id }) => id));
    after = nextAfter;
  }
  return ids;
}

test.skipIf(citusLacks.plans)('threads in the order in which they were asked, page by page, each once', async () => {
  const all = [...asked.map((name) => `bolt-${name}`), ...asked.map((name) => `acme-${name}`)];
  expect((await operator.threads.list({ order })).data.map(({ id }) => id)).toEqual(all);
  expect(await pages(operator.threads)).toEqual(all);
  expect(await pages(operator.threads, { agent: 'agent' })).toEqual(all.filter((id) => !/[de]$/.test(id)));
  // one that is asked between two pages is not there twice, and moves none of the others
  const { nextAfter } = await operator.threads.list({ order, limit: 2 });
  await operator.runs.enqueue({ agent: 'agent', threadId: 'acme-d', input: 'x' });
  const { data } = await operator.threads.list({ order, after: nextAfter! });
  expect(data.map(({ id }) => id)).toEqual(all.slice(2).filter((id) => id !== 'acme-d'));
  expect((await operator.threads.list({ order })).data[0]!.id).toBe('acme-d');
});

test.skipIf(citusLacks.plans)('threads of a tenant alone, also under row-level security', async () => {
  const bolt = asked.map((name) => `bolt-${name}`);
  for (const lanefold of [operator, api]) {
    expect(await pages(lanefold.forTenant('bolt').threads)).toEqual(bolt);
    expect(await pages(lanefold.forTenant('bolt').threads, { tenantId: 'acme' })).toEqual([]);
  }
  expect(await pages(operator.threads, { tenantId: 'bolt' })).toEqual(bolt);
});

test.skipIf(citusLacks.plans)('an erased thread is not there', async () => {
  await operator.threads.create({ id: 'gone' });
  expect((await operator.threads.list({ order })).data[0]!.id).toBe('gone');
  await operator.threads.erase('gone');
  expect(await pages(operator.threads)).not.toContain('gone');
});

test.skipIf(citusLacks.plans)('a page reads little more of a large database than it shows', async () => {
  const { pool } = operator.database;
  await pool.query(`
    insert into lanefold.thread (id, created_at, updated_at)
    select 'many-' || n, now() - interval '1 day' + n * interval '1 second', now() from generate_series(1, 4000) n;
    insert into lanefold._run (thread_id, id, created_at, finished_at, active, status, request_hash, agent, strategy, model, context_ref)
    select 'many-' || n, 'run-' || k, now() - interval '1 hour' + (n * 3 + k) * interval '1 millisecond', now(), false, 'completed', '', 'agent',
      'react', 'm', 'default' from generate_series(1, 4000) n, generate_series(1, 3) k;
    analyze lanefold.thread, lanefold._run`);
  let read = 0;
  const query = async (name: string, text: string, values: unknown[] = []) => {
    // asked for on the last page alone
    if (name.startsWith('list_threads_end')) return [];
    const { rows } = await pool.query<Explained>(`explain (analyze, timing off, format json) ${text}`, values);
    for (const node of planNodes(rows[0]!))
      if (node['Relation Name'])
        read += (node['Actual Rows']! + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']!;
    return [];
  };
  await listThreads({ query, settings: {}, tenant: undefined } as unknown as Database, { order, limit: 50 });
  // three moments of each of fifty threads and the few before them, each with its thread and its newest run, and the runs of those shown
  expect(read).toBeLessThan(1_500);
});
