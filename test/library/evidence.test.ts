// @module-tag slow
import { generateKeyPairSync } from 'node:crypto';
import { createLanefold, defineAgent, defineTool } from 'lanefold';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { SignedHead } from '../../src/runs/operations/evidence/signed-head.ts';
import { anyJson, anyText } from '../db/arbitraries.ts';
import { refused } from '../db/helpers.ts';
import { cases } from '../support/cases.ts';
import { sessionsView } from '../support/database.ts';
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
/** What is found, beside heads where they are given. */
const findings = (heads?: readonly unknown[]) => all(lanefold.evidence.verifyAll(heads && { heads, key: open }));
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
  const fork = await lanefold.threads.fork(id, { atSeq: 3 });
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

test('the hash of any entry is the one the database computed when it was written', async () => {
  // numbers as PostgreSQL keeps them, which JavaScript does not
  const digits = fc.constantFrom(
    '1e400',
    '1.10',
    '-0',
    '-0.00',
    '1E-20',
    '9007199254740993',
    '0.1000000000000000000001',
  );
  const written = fc
    .record({ value: anyJson, name: anyText, number: digits, refs: fc.option(fc.dictionary(anyText, anyJson)) })
    .map(({ value, name, number, refs }) => ({
      kind: 'note',
      payload: `{"v": ${JSON.stringify(value)}, ${JSON.stringify(name)}: [${number}], "long key": {"b": ${number}, "a": null}}`,
      refs,
    }));
  const { id: threadId } = await lanefold.forTenant('acme').threads.create({});
  await fc.assert(
    fc.asyncProperty(fc.array(written, { minLength: 1, maxLength: 20 }), async (entries) => {
      const drafts = entries.map(
        ({ kind, payload, refs }) => `{"kind": "${kind}", "payload": ${payload}, "refs": ${JSON.stringify(refs)}}`,
      );
      await lanefold.database.pool.query('select lanefold.append_entries($1, $2, $3)', [
        threadId,
        `[${drafts.join(', ')}]`,
        '{}',
      ]);
      expect(await lanefold.evidence.verify(threadId)).toEqual([]);
    }),
    { numRuns: cases(6) },
  );
  expect((await lanefold.threads.get(threadId)).rev).toBeGreaterThanOrEqual(cases(6));
});

test('refs that are null in JSON are as they were written', async () => {
  const { id: threadId } = await lanefold.forTenant('acme').threads.create({});
  const run = {
    run_id: 'r',
    request_hash: 'aa',
    agent: 'agent',
    strategy: 'react',
    model: 'm',
    context_ref: 'default',
  };
  const known = { alone: true, strategies: ['react'] };
  const claim = { worker_id: 'w', lease_ms: 60_000, max_claims_without_progress: 3, config_fingerprint: 'f', ...known };
  const { pool } = lanefold.database;
  await pool.query('select lanefold.enqueue_run($1, $2)', [threadId, { ...run, input: { content: 'x', refs: null } }]);
  await pool.query('select lanefold.claim_run($1, $2, 1, $3)', [threadId, 'r', claim]);
  expect((await lanefold.threads.get(threadId)).rev).toBe(1);
  expect(await lanefold.evidence.verify(threadId)).toEqual([]);
});

test('an entry of a caller that looks like one that quotes a text quotes none', async () => {
  const { id: threadId } = await lanefold.forTenant('acme').threads.create({});
  const refs = { contents: [{ id: 'c_x' }] };
  const payload = { operation: { result_context: { entries: [{ refs }] } } };
  await lanefold.threads.append(threadId, [
    { kind: 'note', payload },
    { kind: 'rating', payload: { refs } },
  ]);
  // as SQL may have written it
  const drafts = JSON.stringify([{ kind: 'note', payload: {}, refs }]);
  await lanefold.database.pool.query('select lanefold.append_entries($1, $2)', [threadId, drafts]);
  expect(await lanefold.evidence.verify(threadId)).toEqual([]);
  const { rows } = await lanefold.database.pool.query('select * from lanefold.verify_thread($1)', [threadId]);
  expect(rows).toEqual([]);
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
  expect(await findings(heads)).toMatchObject([{ threadId: gone, problem: 'erased' }]);
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

describe('what a superuser past the triggers does', () => {
  const always = {
    _entry: ['append_only', 'append_only_truncate', 'seal'],
    thread: ['final_tombstone', 'keep_tombstone', 'keep_tombstone_truncate'],
  };
  const triggers = (what: string) =>
    Object.entries(always).flatMap(([table, names]) =>
      names.map((name) => `alter table lanefold.${table} ${what} trigger ${name}`),
    );
  let heads: SignedHead[];
  /** The last seq of the thread. */
  let last: number;
  /** The entry that most tests alter. */
  const second = () => `where thread_id = '${id}' and seq = 2`;
  const alter = () => `update lanefold._entry set payload = '{"content": "z"}' ${second()}`;
  const entries = (problem: string, seq: number, upto = seq) => ({ threadId: id, seq, upto, problem });
  const altered = () => entries('altered', 2);
  const ofThread = (problem: string) => ({ threadId: id, seq: null, upto: null, problem });

  beforeEach(async () => {
    heads = await all(lanefold.evidence.heads(pem));
    last = (await lanefold.threads.get(id)).rev - 1;
    await sql(
      'create table kept as select * from lanefold._entry',
      'create table kept_threads as select * from lanefold.thread',
      ...triggers('disable'),
    );
  });
  afterEach(async () => {
    await sql(
      'delete from lanefold._entry',
      'delete from lanefold.thread',
      'insert into lanefold._entry select * from kept',
      'insert into lanefold.thread select * from kept_threads',
      'drop table kept',
      'drop table kept_threads',
      ...triggers('enable always'),
    );
    expect(await findings(heads)).toEqual([]);
  });

  const recompute = () => `do $$
    declare
      e lanefold._entry;
      v bytea := lanefold._chain_start('${id}');
    begin
      for e in select * from lanefold._entry where thread_id = '${id}' order by seq loop
        v := lanefold._entry_hash(e, v);
        update lanefold._entry set hash = v where thread_id = '${id}' and seq = e.seq;
      end loop;
    end $$`;

  test('to any column of an entry is found, with thread and seq', async () => {
    const changes = [
      `payload = '{"content": "z"}'`,
      `payload = payload || '{"n": 1.00000000000000000001}'`,
      // nodes of Citus compute no interval
      onCitus ? 'at = now()' : "at = at + interval '1 microsecond'",
      "at = 'infinity'",
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
      await sql(`update lanefold._entry set ${change} ${second()}`);
      const [first] = await lanefold.evidence.verify(id);
      expect(first, change).toMatchObject({ threadId: id, seq: 2, problem: 'altered' });
      expect((await findings(heads))[0], change).toMatchObject({ threadId: id, seq: 2, problem: 'altered' });
      await sql(
        `delete from lanefold._entry ${second()}`,
        `insert into lanefold._entry select * from kept ${second()}`,
      );
    }
    await sql(`update lanefold._entry set hash = null ${second()}`);
    expect(await lanefold.evidence.verify(id)).toEqual([entries('unsealed', 2), entries('unproven', 3)]);
  });

  test('and computes a new chain is not found without heads: the database and this process compute the same', async () => {
    const jsonb = fc.option(
      anyJson.map((value) => JSON.stringify(value)),
      { nil: null },
    );
    await fc.assert(
      fc.asyncProperty(jsonb, jsonb, async (payload, refs) => {
        await lanefold.database.pool.query(
          `update lanefold._entry set payload = coalesce($1::jsonb, 'null'), refs = $2::jsonb ${second()}`,
          [payload, refs],
        );
        await sql(recompute());
        expect(await lanefold.evidence.verify(id)).toEqual([]);
      }),
      {
        numRuns: cases(5),
        examples: [
          ['{}', 'null'],
          ['null', null],
        ],
      },
    );
  });

  test('to two columns that trade their values is found', async () => {
    const { rows } = await sql(
      `select min(seq)::int as seq from lanefold._entry where thread_id = '${id}' and context_ref <> role`,
    );
    const [{ seq }] = rows as [{ seq: number }];
    await sql(
      `update lanefold._entry set context_ref = role, role = context_ref where thread_id = '${id}' and seq = ${seq}`,
    );
    expect(await findings(heads)).toEqual([entries('altered', seq)]);
  });

  test('to a payload is found, although the hash that a head has was left', async () => {
    await sql(alter());
    expect(await findings(heads)).toEqual([altered()]);
    expect(await lanefold.evidence.verify(id, { heads, key: open })).toEqual([altered()]);
    for await (const finding of lanefold.evidence.verifyAll()) {
      expect(finding).toEqual(altered());
      break;
    }
    const { rows } = await sql(
      `select from ${sessionsView} where datname = current_database() and state like 'idle in transaction%'`,
    );
    expect(rows).toEqual([]);
  });

  test('is not hidden by a thread that claims to have no chain', async () => {
    await sql(alter(), `update lanefold.thread set chained = false where id = '${id}'`);
    for (const given of [heads, undefined]) expect(await findings(given)).toEqual([altered(), ofThread('unchained')]);
    await sql(`update lanefold._entry set hash = null where thread_id = '${id}'`);
    expect(await findings(heads)).toEqual([
      entries('unsealed', 0, last),
      entries('replaced', 0, last),
      ofThread('unchained'),
    ]);
  });

  test('is not hidden by a false erasure', async () => {
    await sql(alter(), `update lanefold.thread set erased_at = now(), rev = 0 where id = '${id}'`);
    for (const given of [heads, undefined])
      expect(await findings(given)).toEqual([altered(), ofThread('falsely_erased')]);
    await sql(`delete from lanefold._entry where thread_id = '${id}'`);
    expect(await findings(heads)).toEqual([ofThread('erased')]);
  });

  test('is not hidden by removing the row of the thread, or all of the thread', async () => {
    await sql(alter(), `delete from lanefold.thread where id = '${id}'`);
    expect(await findings(heads)).toEqual([altered(), ofThread('removed')]);
    expect(await lanefold.evidence.verify(id)).toEqual([altered(), ofThread('removed')]);
    await sql(`delete from lanefold._entry where thread_id = '${id}'`);
    expect(await findings(heads)).toEqual([ofThread('removed')]);
  });

  test('is not hidden by functions that say that all is well', async () => {
    const names = ['verify_thread(text)', '_entry_hash(lanefold._entry, bytea)', '_chain_start(text)'];
    const kept: string[] = [];
    for (const name of names) {
      const { rows } = await sql(`select pg_get_functiondef('lanefold.${name}'::regprocedure) as text`);
      kept.push((rows as { text: string }[])[0]!.text);
    }
    await sql(
      alter(),
      `create or replace function lanefold.verify_thread(p_thread_id text) returns table (seq bigint, upto bigint, problem text)
       language plpgsql stable as 'begin end'`,
      `create or replace function lanefold._entry_hash(e lanefold._entry, p_before bytea) returns bytea language plpgsql
       stable as 'begin return e.hash; end'`,
      `create or replace function lanefold._chain_start(p_thread_id text) returns bytea language plpgsql immutable
       as 'begin return null; end'`,
    );
    try {
      expect(await findings(heads)).toEqual([altered()]);
    } finally {
      await sql(...kept);
    }
  });

  test.skipIf(onCitus)('is not hidden by functions and operators on the search_path', async () => {
    const database = new URL(lanefold.database.url).pathname.slice(1);
    await sql(
      alter(),
      'create schema evil',
      `create function evil.other(text, text) returns boolean language sql
       as $$ select pg_catalog.texteq($1, $2) and not pg_catalog.texteq($1, '${id}') $$`,
      'create operator evil.= (leftarg = text, rightarg = text, function = evil.other)',
      "create function evil.encode(bytea, text) returns text language sql as $$ select pg_catalog.repeat('0', 64) $$",
      `alter database ${database} set search_path = evil, pg_catalog`,
    );
    const misled = await createLanefold(lanefold.options);
    try {
      expect(await all(misled.evidence.verifyAll({ heads, key: open }))).toEqual([altered()]);
    } finally {
      await misled.close();
      await sql(`alter database ${database} reset search_path`, 'drop schema evil cascade');
    }
  });

  test.skipIf(onCitus)('is not hidden by a view in place of the log: nothing is verified', async () => {
    await sql(
      'alter table lanefold._entry rename to _altered',
      'create view lanefold._entry as select * from kept',
      `update lanefold._altered set payload = '{"content": "z"}' ${second()}`,
    );
    try {
      await refused(lanefold.evidence.verify(id), 'log_replaced');
      await refused(findings(heads), 'log_replaced');
      await refused(all(lanefold.evidence.heads(pem)), 'log_replaced');
    } finally {
      await sql('drop view lanefold._entry', 'alter table lanefold._altered rename to _entry');
    }
  });

  test.skipIf(onCitus)('to the tables themselves is refused: nothing is verified', async () => {
    const { rows } = await sql(
      "select conname as name from pg_constraint where conrelid = 'lanefold._entry'::regclass and contype = 'p'",
    );
    const [{ name }] = rows as [{ name: string }];
    const changes = [
      [
        "alter table lanefold.content alter text type bytea using convert_to(text, 'UTF8')",
        "alter table lanefold.content alter text type text using convert_from(text, 'UTF8')",
      ],
      [
        `create policy hiding on lanefold._entry as restrictive using (thread_id <> '${id}')`,
        'drop policy hiding on lanefold._entry',
      ],
      [
        'alter table lanefold._entry alter is_anchor drop not null',
        'alter table lanefold._entry alter is_anchor set not null',
      ],
      ['create table lanefold._below () inherits (lanefold._entry)', 'drop table lanefold._below'],
      [
        `alter table lanefold._entry drop constraint ${name}`,
        `alter table lanefold._entry add constraint ${name} primary key (thread_id, seq)`,
      ],
    ] as const;
    for (const [change, undo] of changes) {
      await sql(change);
      await refused(findings(heads), 'log_replaced');
      await sql(undo);
    }
  });

  test('by removing or cutting off entries is found', async () => {
    await sql(`delete from lanefold._entry where thread_id = '${id}' and seq in (3, 4)`);
    // the hash before entry 5 is gone, and with it the proof of that entry
    for (const given of [heads, undefined])
      expect(await findings(given)).toEqual([entries('missing', 3, 4), entries('unproven', 5)]);
    await sql(`delete from lanefold._entry where thread_id = '${id}' and seq >= 3`);
    for (const given of [heads, undefined]) expect(await findings(given)).toEqual([entries('cut_off', 3, last)]);
    // with the count of entries, as after the restore of a backup: only what was taken out before can tell
    await sql(`update lanefold.thread set rev = 3 where id = '${id}'`);
    expect(await lanefold.evidence.verify(id)).toEqual([]);
    expect(await findings(heads)).toEqual([entries('cut_off', 3, last)]);
  });

  test('by removing an entry and closing the gap is found by heads', async () => {
    await sql(
      `delete from lanefold._entry where thread_id = '${id}' and seq = 3`,
      ...Array.from(
        { length: last - 3 },
        (_, n) => `update lanefold._entry set seq = ${n + 3} where thread_id = '${id}' and seq = ${n + 4}`,
      ),
      `update lanefold.thread set rev = rev - 1 where id = '${id}'`,
      recompute(),
    );
    expect(await lanefold.evidence.verify(id)).toEqual([]);
    expect(await findings(heads)).toEqual([entries('cut_off', last)]);
  });

  test('by adding an entry past the functions is found', async () => {
    await sql(`insert into lanefold._entry (thread_id, tenant_id, seq, at, kind, payload)
      values ('${id}', 'acme', ${last + 1}, now(), 'note', '{}')`);
    for (const given of [heads, undefined])
      expect(await findings(given)).toEqual([entries('unsealed', last + 1), entries('added', last + 1)]);
    await sql(recompute());
    expect(await findings(heads)).toEqual([entries('added', last + 1)]);
  });

  test('with the chain computed again is found by heads, from the last that fits', async () => {
    await sql('alter table lanefold._entry enable always trigger seal');
    await lanefold.threads.append(id, [{ message: { role: 'user', content: 'later' } }]);
    await sql('alter table lanefold._entry disable trigger seal');
    const both = [...heads, ...(await all(lanefold.evidence.heads(pem)))];
    expect(await findings(both)).toEqual([]);
    await sql(
      `update lanefold._entry set payload = '{"content": "z"}' where thread_id = '${id}' and seq = ${last + 1}`,
      recompute(),
    );
    expect(await lanefold.evidence.verify(id)).toEqual([]);
    expect(await findings(both)).toEqual([entries('rewritten', last + 1)]);
    await sql(alter(), recompute());
    expect(await findings(both)).toEqual([entries('rewritten', 1, last + 1)]);
  });

  test('by writing another conversation under the same id is found by heads', async () => {
    await sql(
      `delete from lanefold._entry where thread_id = '${id}' and seq > 1`,
      `update lanefold._entry set payload = '{"content": "z"}' where thread_id = '${id}'`,
      `update lanefold.thread set rev = 2 where id = '${id}'`,
      recompute(),
    );
    expect(await lanefold.evidence.verify(id)).toEqual([]);
    expect(await findings(heads)).toEqual([entries('replaced', 0, 1), entries('cut_off', 2, last)]);
  });

  test('by moving an entry to another thread is found, with where it came from', async () => {
    const to = heads.find((head) => head.threadId !== id)!;
    await sql(
      `create table moving as select * from lanefold._entry where thread_id = '${id}' and seq = ${last}`,
      `update moving set thread_id = '${to.threadId}', seq = ${to.seq + 1}`,
      `delete from lanefold._entry where thread_id = '${id}' and seq = ${last}`,
      'insert into lanefold._entry select * from moving',
      'drop table moving',
      `update lanefold.thread set rev = rev + 1 where id = '${to.threadId}'`,
    );
    const there = { threadId: to.threadId, seq: to.seq + 1, upto: to.seq + 1 };
    for (const given of [heads, undefined]) {
      const found = await findings(given);
      expect(found).toHaveLength(3);
      expect(found).toEqual(
        expect.arrayContaining([
          entries('cut_off', last),
          { ...there, problem: 'altered' },
          { ...there, problem: 'moved', fromThreadId: id, fromSeq: last },
        ]),
      );
    }
  });

  test('by giving a thread another id is found, with the id it had', async () => {
    await sql(
      `create table moving as select * from lanefold._entry where thread_id = '${id}'`,
      `create table moving_thread as select * from lanefold.thread where id = '${id}'`,
      "update moving set thread_id = 'elsewhere'",
      "update moving_thread set id = 'elsewhere'",
      `delete from lanefold._entry where thread_id = '${id}'`,
      `delete from lanefold.thread where id = '${id}'`,
      'insert into lanefold._entry select * from moving',
      'insert into lanefold.thread select * from moving_thread',
      'drop table moving',
      'drop table moving_thread',
    );
    const there = { threadId: 'elsewhere', seq: 0, upto: last };
    expect(await findings(heads)).toEqual([
      { ...there, problem: 'altered' },
      ofThread('removed'),
      { ...there, problem: 'moved', fromThreadId: id, fromSeq: 0 },
    ]);
  });

  test('by giving a thread to another tenant is found', async () => {
    await sql(`update lanefold.thread set tenant_id = 'bolt' where id = '${id}'`);
    for (const given of [heads, undefined]) expect(await findings(given)).toEqual([ofThread('tenant_changed')]);
    await sql(`update lanefold._entry set tenant_id = 'bolt' where thread_id = '${id}'`);
    expect(await findings(heads)).toEqual([entries('altered', 0, last), ofThread('tenant_changed')]);
    await sql(recompute());
    expect(await lanefold.evidence.verify(id)).toEqual([]);
    expect(await findings(heads)).toEqual([entries('replaced', 0, last), ofThread('tenant_changed')]);
    // for the tenant that had it, it is gone
    expect(await all(lanefold.forTenant('acme').evidence.verifyAll({ heads, key: open }))).toEqual([
      ofThread('removed'),
    ]);
  });
});

test('heads are signed: an altered one, or one of another key, is refused', async () => {
  const [head] = await all(lanefold.evidence.heads(pem));
  const other = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }) as string;
  const check = (given: unknown, key = open) => all(lanefold.evidence.verifyAll({ heads: [given], key }));
  expect(await check(head)).toEqual([]);
  expect(await check(head, pem)).toEqual([]);
  await refused(check({ ...head, hash: 'aa' }), 'invalid_input');
  await refused(check(head, other), 'invalid_input');
  await refused(check(head, 'no key'), 'invalid_input');
});
