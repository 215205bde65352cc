import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { actionsOf } from './actions.ts';
import { recordedOn, startRecording } from './record.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
  await startRecording(database.pool);
});
afterAll(() => database?.drop());

test('what transactions of two threads write at once is read transaction by transaction, as they ended', async () => {
  const [parent, child] = [await database.pool.connect(), await database.pool.connect()];
  const write = (session: typeof parent, thread: string, ...writes: [kind: string, value: string][]) =>
    Promise.all(
      writes.map(([kind, value]) =>
        session.query('select history.note($1, $2, $3, $4)', [kind, thread, `run of ${thread}`, value]),
      ),
    );
  for (const thread of ['parent', 'child']) await write(parent, thread, ['enqueue', '1'], ['claim', '1']);
  for (const session of [parent, child]) await session.query('begin');
  await write(parent, 'parent', ['suspend', '1']);
  await write(child, 'child', ['entry', '0'], ['commit', '1']);
  await write(parent, 'parent', ['resolve', '0']);
  await write(child, 'child', ['end', 'completed']);
  await write(parent, 'parent', ['go_on', '2']);
  for (const session of [child, parent]) {
    await session.query('commit');
    session.release();
  }
  const actions = actionsOf(await recordedOn(database.pool, ['parent', 'child']));
  const claims = ['enqueue 0', 'claim 0', 'enqueue 1', 'claim 1'];
  expect(actions.map(({ name, run }) => `${name} ${run}`)).toEqual([
    ...claims,
    'commit 1',
    'end 1',
    'suspend 0',
    'resolve 0',
    'go_on 0',
  ]);
  expect(actions.find(({ name }) => name === 'commit')).toMatchObject({ seq: 0, entries: 1 });
});
