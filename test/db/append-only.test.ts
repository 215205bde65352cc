// @module-tag slow
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { onCitus } from '../support/services.ts';
import { logOf, newThread, openLog, refused, rows, type TestLog } from './helpers.ts';
import { assertInvariants } from './invariants.ts';

let log: TestLog;
let threadId: string;
beforeAll(async () => {
  log = await openLog();
  threadId = await newThread(log, { systemPrompt: 'p' });
  await log.threads.append(threadId, [{ message: { role: 'user', content: 'stays' } }]);
});
afterAll(async () => {
  await assertInvariants(log.db);
  await log.drop();
});

const forbidden = [
  "update lanefold._entry set payload = '{}'",
  'update lanefold._entry set seq = seq + 100 where seq = 1',
  'update lanefold._entry set refs = refs',
  'delete from lanefold._entry',
  'delete from lanefold._entry where seq = 1',
  'truncate lanefold._entry',
  'truncate lanefold._entry cascade',
  "update lanefold.thread_entry set role = 'assistant'",
  'delete from lanefold.thread_entry',
  "insert into lanefold._entry (thread_id, seq, at, kind, payload) select thread_id, seq, at, kind, '{}' from lanefold._entry on conflict (thread_id, seq) do update set payload = excluded.payload",
  'merge into lanefold._entry e using (select 1) x on true when matched then delete',
  'delete from lanefold.thread',
  'truncate lanefold.thread',
];

/** Citus itself refuses these before a trigger is asked; the shards have triggers of their own. */
const unknownToCitus = /^merge|thread_entry/;
const refusalOf = (statement: string) =>
  onCitus && unknownToCitus.test(statement) ? expect.stringMatching(/^(0A000|XX000)$/) : 'LF015';

/** As another role or in another mode, on a connection of its own. */
async function attempt(setup: string, statement: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: log.url });
  await client.connect();
  try {
    await client.query(setup);
    return await client.query(statement);
  } finally {
    await client.end();
  }
}

describe.each([
  ['a superuser', 'select 1'],
  ['replication', 'set session_replication_role = replica'],
  ['the owner of the tables', 'set role lanefold_owner'],
])('%s cannot change the log', (_, setup) => {
  test.each(forbidden)('%s', async (statement) => {
    const before = await logOf(log.db, threadId);
    await expect(attempt(setup, statement)).rejects.toMatchObject({ code: refusalOf(statement) });
    expect(await logOf(log.db, threadId)).toEqual(before);
    expect(before).toHaveLength(2);
  });
});

test('through the library the refusal is a typed error', () =>
  refused(rows(log.db, 'delete from lanefold._entry'), 'append_only'));
