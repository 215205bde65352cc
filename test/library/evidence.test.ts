import { generateKeyPairSync } from 'node:crypto';
import { defineAgent, defineTool } from 'lanefold';
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { refused } from '../db/helpers.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { onCitus } from '../support/services.ts';

const add = defineTool({ name: 'add', input: z.object({ a: z.number() }), execute: ({ a }) => ({ sum: a + 0.5 }) });
const agent = defineAgent({
  name: 'agent',
  model: 'scripted:[{"tool": "add", "args": {"a": 1}}, "done"]',
  instructions: 'Add.',
  tools: [add],
});
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
const open = publicKey.export({ type: 'spki', format: 'pem' }) as string;
let lanefold: TestLanefold;
let id: string;

const all = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
};
const sql = async (...texts: string[]) => {
  for (const text of texts.slice(0, -1)) await lanefold.database.pool.query(text);
  return lanefold.database.pool.query(texts.at(-1)!);
};

beforeAll(async () => {
  lanefold = await startLanefold({ agents: [agent], scriptedModels: true });
  await lanefold.tenants.configure('acme', { chained: true });
  const worker = await lanefold.startWorker();
  const acme = lanefold.forTenant('acme');
  // a thread that is created empty, with every way of writing entries, and one that its run creates
  ({ id } = await acme.threads.create({ systemPrompt: 'p' }));
  const payload = { n: 1.0, large: 12_345_678_901_234_567_890n.toString(), nested: { b: [1, null], a: 'ü' } };
  await acme.threads.append(id, [{ message: { role: 'user', content: 'x' } }, { kind: 'rating', payload }]);
  for (const threadId of [id, undefined])
    await acme.runs.wait(await acme.runs.enqueue({ agent: 'agent', input: 'hi', ...(threadId ? { threadId } : {}) }));
  await acme.contexts.replace(id, { entries: [{ role: 'user', content: 'y' }] });
  await worker.stop();
});
afterAll(() => lanefold?.close());

test('a fork has a chain of its own, in the tenant of its parent', async () => {
  const fork = await lanefold.threads.fork(id, { seq: 3 });
  expect(await lanefold.threads.get(fork.id)).toMatchObject({ tenantId: 'acme', parentThreadId: id });
  expect(await lanefold.evidence.verify(fork.id)).toEqual([]);
  expect(await lanefold.evidence.verify(id)).toEqual([]);
  await refused(lanefold.forTenant('other').threads.fork(id), 'thread_not_found');
});

test('a log that nobody touched is as it was written, by whatever it was written', async () => {
  expect((await lanefold.threads.get(id)).rev).toBeGreaterThan(7);
  expect(await lanefold.evidence.verify(id)).toEqual([]);
  expect(await all(lanefold.evidence.verifyAll())).toEqual([]);
  const { rows } = await sql('select count(*)::int as entries, count(hash)::int as sealed from lanefold._entry');
  expect(rows).toEqual([{ entries: rows[0].entries, sealed: rows[0].entries }]);
});

test('threads of other tenants have no chain, nor do those from before', async () => {
  const { id: other } = await lanefold.threads.create({ systemPrompt: 'p' });
  expect(await lanefold.evidence.verify(other)).toMatchObject([{ problem: 'not_chained' }]);
  expect((await sql(`select hash from lanefold._entry where thread_id = '${other}'`)).rows).toEqual([{ hash: null }]);
  await lanefold.forTenant('late').threads.create({ id: 'before' });
  await lanefold.tenants.configure('late', { chained: true });
  expect(await lanefold.forTenant('late').evidence.verify('before')).toMatchObject([{ problem: 'not_chained' }]);
});

test('one tenant verifies nothing of another', async () => {
  const bolt = lanefold.forTenant('bolt').evidence;
  expect(await bolt.verify(id)).toEqual(
    (await bolt.verify('nowhere')).map((finding) => ({ ...finding, threadId: id })),
  );
  expect(await all(bolt.heads(pem))).toEqual([]);
});

test('after an erasure that is what is found', async () => {
  const { id: gone } = await lanefold.forTenant('acme').threads.create({ systemPrompt: 'p' });
  const heads = await all(lanefold.evidence.heads(pem));
  await lanefold.threads.erase(gone);
  expect(await lanefold.evidence.verify(gone)).toMatchObject([{ problem: 'erased' }]);
  expect(await all(lanefold.evidence.verifyHeads(heads, open))).toMatchObject([{ threadId: gone, problem: 'erased' }]);
});

test('a broken chain takes no further entries', async () => {
  const { id: broken } = await lanefold.forTenant('acme').threads.create({ systemPrompt: 'p' });
  await sql(
    'alter table lanefold._entry disable trigger append_only',
    `delete from lanefold._entry where thread_id = '${broken}'`,
    'alter table lanefold._entry enable always trigger append_only',
  );
  const say = () => lanefold.threads.append(broken, [{ message: { role: 'user', content: 'x' } }]);
  await refused(say(), 'append_only');
  await lanefold.threads.erase(broken);
});

describe('what somebody past the triggers does', () => {
  beforeEach(async () => {
    await sql(
      'create table kept as select * from lanefold._entry',
      'alter table lanefold._entry disable trigger user',
      'alter table lanefold.thread disable trigger user',
    );
  });
  afterEach(async () => {
    await sql(
      'delete from lanefold._entry',
      'insert into lanefold._entry select * from kept',
      'drop table kept',
      `update lanefold.thread t set rev = e.n from (select thread_id, count(*) as n from lanefold._entry group by 1) e
       where e.thread_id = t.id and t.erased_at is null`,
    );
  });

  const recompute = (threadId: string) => `do $$
    declare
      e lanefold._entry;
      v bytea := lanefold._chain_start('${threadId}');
    begin
      for e in select * from lanefold._entry where thread_id = '${threadId}' order by seq loop
        v := lanefold._entry_hash(e, v);
        update lanefold._entry set hash = v where thread_id = '${threadId}' and seq = e.seq;
      end loop;
    end $$`;

  test('to any column of an entry is found, with thread and seq', async () => {
    const of = `where thread_id = '${id}' and seq = 2`;
    const changes = [
      `payload = '{"content": "z"}'`,
      `payload = payload || '{"n": 1.00000000000000000001}'`,
      // nodes of Citus compute no interval
      onCitus ? 'at = now()' : "at = at + interval '1 microsecond'",
      "kind = 'other'",
      "context_ref = 'other'",
      "role = 'assistant'",
      "op_id = 'other'",
      "run_id = 'other'",
      "request_id = 'other'",
      'is_anchor = not is_anchor',
      `refs = '{"a": 1}'`,
      "tenant_id = 'bolt'",
      `hash = '\\x00'`,
    ];
    for (const change of changes) {
      await sql(`update lanefold._entry set ${change} ${of}`);
      const [first] = await lanefold.evidence.verify(id);
      expect(first, change).toMatchObject({ threadId: id, seq: 2, upto: 2, problem: 'altered' });
      await sql(`delete from lanefold._entry ${of}`, `insert into lanefold._entry select * from kept ${of}`);
    }
    await sql(`update lanefold._entry set hash = null ${of}`);
    expect(await lanefold.evidence.verify(id)).toMatchObject([{ seq: 2, problem: 'unsealed' }]);
  });

  test('by removing or cutting off entries is found', async () => {
    const heads = await all(lanefold.evidence.heads(pem));
    const { rev } = await lanefold.threads.get(id);
    await sql(`delete from lanefold._entry where thread_id = '${id}' and seq in (3, 4)`);
    expect(await all(lanefold.evidence.verifyAll())).toEqual([{ threadId: id, seq: 3, upto: 4, problem: 'missing' }]);
    await sql(`delete from lanefold._entry where thread_id = '${id}' and seq >= 3`);
    expect(await lanefold.evidence.verify(id)).toEqual([{ threadId: id, seq: 3, upto: rev - 1, problem: 'cut_off' }]);
    // with the count of entries, as after the restore of a backup: only what was taken out before can tell
    await sql(`update lanefold.thread set rev = 3 where id = '${id}'`);
    expect(await lanefold.evidence.verify(id)).toEqual([]);
    expect(await all(lanefold.evidence.verifyHeads(heads, open))).toEqual([
      { threadId: id, seq: 3, upto: rev - 1, problem: 'cut_off' },
    ]);
  });

  test('with the chain computed again is found by heads, between the last that fits and the first that does not', async () => {
    const early = await all(lanefold.evidence.heads(pem));
    const { rev } = await lanefold.threads.get(id);
    await sql('alter table lanefold._entry enable always trigger seal');
    await lanefold.threads.append(id, [{ message: { role: 'user', content: 'later' } }]);
    await sql('alter table lanefold._entry disable trigger seal');
    const heads = [...early, ...(await all(lanefold.evidence.heads(pem)))];
    expect(await all(lanefold.evidence.verifyHeads(heads, open))).toEqual([]);
    await sql(`update lanefold._entry set payload = '{"content": "z"}' where thread_id = '${id}' and seq = ${rev}`);
    await sql(recompute(id));
    expect(await lanefold.evidence.verify(id)).toEqual([]);
    expect(await all(lanefold.evidence.verifyHeads(heads, open))).toEqual([
      { threadId: id, seq: rev, upto: rev, problem: 'differs_from_head' },
    ]);
  });
});

test('heads are signed: an altered one, or one of another key, is refused', async () => {
  await sql(
    'alter table lanefold._entry enable always trigger seal',
    'alter table lanefold._entry enable always trigger append_only',
    'alter table lanefold.thread enable always trigger final_tombstone',
  );
  const [head] = await all(lanefold.evidence.heads(pem));
  const other = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }) as string;
  const check = (given: unknown, key = open) => all(lanefold.evidence.verifyHeads([given], key));
  expect(await check(head)).toEqual([]);
  expect(await check(head, pem)).toEqual([]);
  await refused(check({ ...head, hash: 'aa' }), 'invalid_input');
  await refused(check(head, other), 'invalid_input');
  await refused(check(head, 'no key'), 'invalid_input');
});
