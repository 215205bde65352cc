// @module-tag slow
import { agentTool, defineAgent, type JsonObject } from 'lanefold';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cases } from '../support/cases.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';

const echo = defineAgent({ name: 'echo', model: 'scripted:echo' });
const ask = (task: string) => ({ tool: 'ask_echo', args: { task } });
const editor = defineAgent({
  name: 'editor',
  model: `scripted:${JSON.stringify([{ tools: [ask('hats'), ask('caps')] }, 'Done.'])}`,
  tools: [agentTool(echo, { description: 'Repeats.' })],
});
const words = ['refund', 'parcel'];
const shops = ['berlin', 'paris'];
const tenants = ['acme', 'bolt'];
let lanefold: TestLanefold;

beforeAll(async () => {
  lanefold = await startLanefold({ agents: [echo, editor] });
  for (const tenant of tenants)
    for (const shop of shops)
      for (const word of words) {
        const of = lanefold.forTenant(tenant);
        const threadId = `${tenant}-${shop}-${word}`;
        await of.threads.create({ id: threadId, metadata: { shop, of: { word } } });
        for (const input of [`My ${word}`, 'And then?'])
          await of.runs.enqueue({ agent: 'echo', threadId, input, busy: 'wait' });
      }
  // more of them than a search looks up: every thread has `my`, and one metadata is that of thousands
  const many = 2_001;
  await lanefold.database.pool.query(
    `insert into lanefold.thread (id, tenant_id, metadata, created_at, updated_at)
     select 'old-' || n, 'acme', '{"of": {"word": "refund"}}', now() - interval '1 day', now() from generate_series(1, $1::int) n`,
    [many],
  );
  const entries = Array.from({ length: many }, () => ({ message: { role: 'user' as const, content: 'My own' } }));
  for (let from = 0; from < many; from += 500)
    await lanefold.forTenant('acme').threads.append('old-1', entries.slice(from, from + 500));
  await lanefold.startWorker();
  const asked = { agent: 'editor', threadId: 'article', createThread: true, input: 'Write about hats.' };
  await lanefold.runs.wait(await lanefold.runs.enqueue(asked));
  const first = await lanefold.runs.list({ children: false });
  for (const run of first.data) await lanefold.runs.wait(run);
});
afterAll(() => lanefold?.close());

test('runs are listed, counted and acted on by what threads are found by', async () => {
  const filters = fc.record(
    {
      tenantId: fc.constantFrom(...tenants, 'nobody'),
      metadata: fc.constantFrom<JsonObject>({ shop: 'paris' }, { of: { word: 'refund' } }, { shop: 'rome' }),
      text: fc.constantFrom('refund', 'my -parcel', '"and then"', 'never'),
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(filters, async (filter) => {
      const { data: threads } = await lanefold.threads.list({ ...filter, children: false, limit: 1_000 });
      const { data: runs } = await lanefold.runs.list({ ...filter, children: false, limit: 100 });
      const known = new Set(threads.map(({ id }) => id));
      const all = (await lanefold.runs.list({ children: false, limit: 100 })).data;
      expect(runs.map(({ id }) => id)).toEqual(all.filter(({ threadId }) => known.has(threadId)).map(({ id }) => id));
      const counts = await lanefold.runs.counts({ ...filter, children: false });
      expect(counts.runs).toBe(runs.length);
      const preview = await lanefold.runs.retryMany({ ...filter, children: false }, { dryRun: true });
      expect(preview.matched).toBe(runs.length);
    }),
    // each filter is repeated more often than a prepared statement is planned for its values
    { numRuns: cases(40) },
  );
});

test('a thread says how many threads its tool calls have created, and leads to them', async () => {
  const { data } = await lanefold.threads.list({ agent: 'editor' });
  expect(data).toMatchObject([{ id: 'article', children: 2, runs: 1, lastMessage: 'Write about hats.' }]);
  const { data: children } = await lanefold.threads.list({ startedBy: 'article' });
  expect(children.map(({ lastMessage }) => lastMessage).sort()).toEqual(['caps', 'hats']);
  expect(children.map((child) => child.children)).toEqual([0, 0]);
  expect((await lanefold.threads.list({ startedBy: 'article', children: false })).data).toEqual([]);
  expect((await lanefold.threads.list({ startedBy: children[0]!.id })).data).toEqual([]);
});
