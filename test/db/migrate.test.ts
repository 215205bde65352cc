// @module-tag slow
import { createLanefold } from 'lanefold';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterEach, describe, expect, test } from 'vitest';
import { schemaVersion } from '../../db/schema/version.ts';
import { migrate } from '../../src/database/store/schema/migrate.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { refused } from './helpers.ts';

let database: TestDatabase;
afterEach(() => database.drop());
/** Makes an empty database, or a copy of one that `migrate` has made, for a test. */
const useDatabase = async (kind: 'empty' | 'migrated') =>
  void (database = await createDatabase({ empty: kind === 'empty' }));

const current = { from: schemaVersion, to: schemaVersion, status: 'current' };

/** Every object outside the system schemas, with its definition where it has one. */
async function everyObject(): Promise<unknown[]> {
  const { rows } = await database.pool.query(
    `select n.nspname || '.' || c.relname as name, c.relkind::text as what, c.oid::text as id from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname !~ '^pg_|information_schema'
     union all select n.nspname || '.' || p.oid::regprocedure, 'function', md5(pg_get_functiondef(p.oid)) from pg_proc p join pg_namespace n on n.oid = p.pronamespace
     where n.nspname !~ '^pg_|information_schema' and p.prokind = 'f' order by 1, 2, 3`,
  );
  return rows;
}

/** Makes the database one that other code has migrated. */
const pretend = (version: number, minCompatible: number) =>
  database.pool.query(
    `create or replace function lanefold.schema_version() returns int language sql immutable as 'select ${version}';
     create or replace function lanefold.min_compatible_version() returns int language sql immutable as 'select ${minCompatible}'`,
  );

const connect = () => createLanefold({ databaseUrl: database.url, redisUrl: null });

test('of eight that migrate at once one does the work and all succeed', async () => {
  await useDatabase('empty');
  const done = await Promise.all(Array.from({ length: 8 }, () => migrate(database.url)));
  expect(done.filter((result) => result.status === 'migrated')).toEqual([
    { from: 0, to: schemaVersion, status: 'migrated' },
  ]);
  expect(done.filter((result) => result.status !== 'migrated')).toEqual(Array.from({ length: 7 }, () => current));
  expect(await migrate(database.url)).toEqual(current);
  const lanefold = await connect();
  await lanefold.close();
});

test('migrating again changes nothing, and brings back what was altered', async () => {
  await useDatabase('migrated');
  const objects = await everyObject();
  expect(await migrate(database.url)).toEqual(current);
  expect(await everyObject()).toEqual(objects);

  await database.pool.query(
    "comment on function lanefold._lock_thread(text) is 'of another version'; drop function lanefold.rebuild_lanes(text)",
  );
  expect(await migrate(database.url)).toEqual({ ...current, status: 'migrated' });
  expect((await everyObject()).map((object) => (object as { name: string }).name)).toEqual(
    objects.map((object) => (object as { name: string }).name),
  );
});

test('a role whose name needs quotes migrates, and a superuser leaves to it what it owns', async () => {
  await useDatabase('empty');
  const role = `Team A-${randomUUID().slice(0, 8)}`;
  const url = new URL(database.url);
  await database.pool.query(`create role ${pg.escapeIdentifier(role)} login password 'secret'`);
  await database.pool.query(`grant create on database ${url.pathname.slice(1)} to ${pg.escapeIdentifier(role)}`);
  url.username = encodeURIComponent(role);
  url.password = 'secret';
  expect(await migrate(url.href)).toMatchObject({ status: 'migrated' });
  expect(await migrate(url.href)).toEqual(current);
  await database.pool.query("comment on function lanefold._lock_thread(text) is 'of another version'");
  expect(await migrate(database.url)).toMatchObject({ status: 'migrated' });
  const { rows } = await database.pool.query<{ owner: string }>(
    "select distinct pg_get_userbyid(relowner) as owner from pg_class where relnamespace = 'lanefold'::regnamespace",
  );
  expect(rows).toEqual([{ owner: role }]);
});

test('data survive a migration', async () => {
  await useDatabase('migrated');
  const lanefold = await connect();
  try {
    await lanefold.threads.create({ id: 't', systemPrompt: 'p' });
    await lanefold.threads.append('t', [{ message: { role: 'user', content: 'stays' } }]);
    const before = await lanefold.threads.entries('t');
    await database.pool.query("comment on function lanefold._lock_thread(text) is 'of another version'");
    expect(await migrate(database.url)).toMatchObject({ status: 'migrated' });
    expect(await lanefold.threads.entries('t')).toEqual(before);
    const more = await lanefold.threads.append('t', [{ message: { role: 'user', content: 'more' } }]);
    expect(more).toMatchObject({ firstSeq: 2 });
  } finally {
    await lanefold.close();
  }
});

test('without the queue’s tables there is no schema of the queue', async () => {
  await useDatabase('empty');
  await migrate(database.url, { queueTables: false });
  const { rows } = await database.pool.query(
    "select nspname from pg_namespace where nspname in ('lanefold', 'bullmq', 'drizzle') order by 1",
  );
  expect(rows.map((row) => row.nspname)).toEqual(['drizzle', 'lanefold']);
});

describe('a database of other code', () => {
  test('newer and compatible is left as it is, and works', async () => {
    await useDatabase('migrated');
    await pretend(schemaVersion + 5, schemaVersion);
    const objects = await everyObject();
    expect(await migrate(database.url)).toEqual({ from: schemaVersion + 5, to: schemaVersion + 5, status: 'newer' });
    expect(await everyObject()).toEqual(objects);
    const lanefold = await connect();
    await lanefold.close();
  });

  test('newer and incompatible is refused, and nothing changed', async () => {
    await useDatabase('migrated');
    await pretend(schemaVersion + 5, schemaVersion + 1);
    const objects = await everyObject();
    await refused(migrate(database.url), 'database_too_new');
    await refused(connect(), 'database_too_new');
    expect(await everyObject()).toEqual(objects);
  });

  test('older is refused until it is migrated', async () => {
    await useDatabase('migrated');
    await pretend(schemaVersion - 1, 0);
    await refused(connect(), 'database_outdated');
    await database.pool.query("comment on function lanefold._lock_thread(text) is 'of an older version'");
    expect(await migrate(database.url)).toEqual({ from: schemaVersion - 1, to: schemaVersion, status: 'migrated' });
    const lanefold = await connect();
    await lanefold.close();
  });
});

test('a database that was never migrated is outdated, and stays untouched', async () => {
  await useDatabase('empty');
  const objects = await everyObject();
  await refused(connect(), 'database_outdated');
  expect(await everyObject()).toEqual(objects);
});

test('a server that is not there, and a database that is not there, are unreachable', async () => {
  await useDatabase('empty');
  const missing = new URL(database.url);
  missing.pathname = '/never_made';
  for (const databaseUrl of ['postgres://postgres@127.0.0.1:1/x', missing.href]) {
    await refused(createLanefold({ databaseUrl, redisUrl: null }), 'database_unreachable');
    await refused(migrate(databaseUrl), 'database_unreachable');
  }
});

test('a migration that a transaction blocks lets writers pass, says who blocks, and gives up', async () => {
  await useDatabase('migrated');
  const lanefold = await connect();
  await lanefold.threads.create({ id: 't' });
  await database.pool.query("comment on function lanefold._lock_thread(text) is 'of another version'");
  const holder = await database.pool.connect();
  try {
    await holder.query(
      "begin; set application_name = 'forgotten'; select * from lanefold._entry; lock table lanefold._entry in row exclusive mode",
    );
    const heard: string[] = [];
    const migrating = migrate(database.url, { lockPatienceMs: 300, onBlocked: (message) => heard.push(message) });
    await refused(migrating, 'thread_locked');
    expect(heard[0]).toMatch(/session \d+ \(forgotten, idle in transaction\)/);
    // nothing of it is left, and nobody waits
    await lanefold.threads.append('t', [{ message: { role: 'user', content: 'x' } }]);
    const second = migrate(database.url, {
      onBlocked: () => void holder.query('rollback'),
    });
    expect(await second).toMatchObject({ status: 'migrated' });
  } finally {
    await holder.query('rollback');
    holder.release();
    await lanefold.close();
  }
});
