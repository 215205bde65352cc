import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase, type Database } from '../../src/database/postgres/pool.ts';
import { onCitus } from '../support/services.ts';
import { newThread, refused, rows, useLog, value } from './helpers.ts';
import { answer, asks, input, results, sqlRun } from './sql-run.ts';
import { urlAs } from '../support/citus.ts';

const log = useLog();
const role = `writer_${randomBytes(4).toString('hex')}`;
/** The statements that docs/reference/sql.md gives, for a role of this test. */
const granting = /```sql write\n([^]*?)```/
  .exec(readFileSync('docs/reference/sql.md', 'utf8'))?.[1]
  ?.replaceAll('writer', role);
let db: Database;

beforeAll(async () => {
  await log.pool.query(granting ?? `create role ${role}; grant all on all tables in schema lanefold to ${role}`);
  await log.pool.query(`alter role ${role} login password 'w'`);
  db = openDatabase({ url: urlAs(log.url, role, 'w'), max: 2 });
});
afterAll(async () => {
  await db.close();
  await log.pool.query(`drop owned by ${role}; drop role ${role}`);
});

/** Another id might be another shard's: Citus itself refuses that. */
const refusedMove = (promise: Promise<unknown>): Promise<void> =>
  onCitus ? expect(promise).rejects.toMatchObject({ details: { sqlstate: '0A000' } }) : refused(promise, 'append_only');

const say = [{ kind: 'ai_message', payload: { role: 'user', content: 'hello' } }];

test('a role with the documented grant can do what workers and the API do', async () => {
  const threadId = await newThread(log);
  await value(db, 'select lanefold.append_entries($1, $2)', threadId, JSON.stringify(say));
  const run = sqlRun(db, threadId, 'run');
  await run.enqueue();
  await run.claim();
  await run.commit(0, asks(['a']));
  await input(db, threadId, 'i', 'more');
  await run.commit(1, { ...results(['a']), drain: true });
  await run.commit(2, answer('done'));
  expect(await rows(db, 'select role from lanefold.lane_context_at($1, $2, 100)', threadId, 'default')).toHaveLength(6);
  await rows(db, 'select lanefold.erase_thread($1)', threadId);
  expect(await rows(log.db, 'select from lanefold._entry where thread_id = $1', threadId)).toEqual([]);
});

describe('a role with every right on the tables cannot change the log', () => {
  beforeAll(() => log.pool.query(`grant all on all tables in schema lanefold to ${role}`));

  test('by erasing half a thread by hand', async () => {
    const threadId = await newThread(log, { systemPrompt: 'p' });
    await value(log.db, 'select lanefold.append_entries($1, $2)', threadId, JSON.stringify(say));
    const before = await rows(log.db, 'select * from lanefold._entry where thread_id = $1 order by seq', threadId);
    const tombstone = 'update lanefold.thread set erased_at = now() where id = $1';
    await refused(rows(db, tombstone, threadId), 'append_only');
    await refused(rows(db, 'delete from lanefold._entry where thread_id = $1', threadId), 'append_only');
    await refused(rows(db, "update lanefold._entry set payload = '{}' where thread_id = $1", threadId), 'append_only');
    await refusedMove(rows(db, "update lanefold.thread set id = 'elsewhere' where id = $1", threadId));
    expect(await rows(log.db, 'select * from lanefold._entry where thread_id = $1 order by seq', threadId)).toEqual(
      before,
    );
  });

  test('with functions of its own in front of those of the server', async () => {
    const threadId = await newThread(log, { systemPrompt: 'p' });
    const schema = `evil_${role}`;
    await log.pool.query(`create schema ${schema} authorization ${role}`);
    const client = new pg.Client({ connectionString: log.url });
    await client.connect();
    try {
      await client.query(`set role ${role}`);
      await client.query(`create function ${schema}.pg_get_userbyid(oid) returns name language sql as 'select current_user';
        create function ${schema}.always(name, name) returns boolean language sql as 'select true';
        create operator ${schema}.= (leftarg = name, rightarg = name, function = ${schema}.always);
        set search_path = ${schema}, pg_catalog`);
      await expect(
        client.query('update lanefold.thread set erased_at = now() where id = $1', [threadId]),
      ).rejects.toMatchObject({ code: 'LF015' });
    } finally {
      await client.end();
      await log.pool.query(`drop schema ${schema} cascade`);
    }
  });
});

test.each([
  ['the owner', () => log.db],
  ['a writer', () => db],
])('a tombstone is final for %s', async (_, as) => {
  const threadId = await newThread(log);
  await log.threads.erase(threadId);
  for (const change of ['erased_at = null', "erased_at = now() - interval '1 day'", 'rev = 1'])
    await refused(rows(as(), `update lanefold.thread set ${change} where id = $1`, threadId), 'append_only');
  await refusedMove(rows(as(), "update lanefold.thread set id = 'old' where id = $1", threadId));
});

test('erasing needs a right of its own', async () => {
  const threadId = await newThread(log);
  await log.pool.query(`revoke execute on function lanefold.erase_thread from ${role}`);
  await expect(rows(db, 'select lanefold.erase_thread($1)', threadId)).rejects.toMatchObject({
    details: { sqlstate: '42501' },
  });
  await log.threads.erase(threadId);
});
