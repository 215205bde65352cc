import { expect, test } from 'vitest';
import { newThread, refused, rows, value, useLog } from './helpers.ts';
import { answer, asks, input, results, sqlRun } from './sql-run.ts';

const log = useLog();

const say = { message: { role: 'user' as const, content: 'private' } };

/** Every table of the schema that has rows of a thread. */
async function tablesWith(threadId: string): Promise<string[]> {
  const tables = await rows<{ name: string }>(
    log.db,
    `select table_name as name from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
     where table_schema = 'lanefold' and column_name = 'thread_id' and table_type = 'BASE TABLE' order by 1`,
  );
  const found = [];
  for (const { name } of tables) {
    if (await value(log.db, `select exists (select from lanefold."${name}" where thread_id = $1)`, threadId))
      found.push(name);
  }
  return found;
}

async function fullThread(): Promise<string> {
  const threadId = await newThread(log, { systemPrompt: 'p' });
  await log.threads.append(threadId, [say], { opId: 'k' });
  const run = sqlRun(log.db, threadId, 'run');
  await run.enqueue();
  await run.claim();
  await run.commit(0, asks(['a']));
  await input(log.db, threadId, 'i', 'also private');
  await run.commit(1, { ...results(['a']), drain: true });
  await log.contexts.switch(threadId, 'plan', { opId: 'o' });
  await run.commit(2, {
    ...answer('done'),
    nodes: [{ node: 1, status: 'answered', kind: 'search', content: 'private' }],
  });
  return threadId;
}

test('removes everything of the thread and nothing of another', async () => {
  const [gone, kept] = [await fullThread(), await fullThread()];
  const all = await tablesWith(kept);
  expect(all.length).toBeGreaterThanOrEqual(6);
  await log.threads.erase(gone);
  expect(await tablesWith(gone)).toEqual([]);
  expect(await tablesWith(kept)).toEqual(all);
  expect(await log.contexts.project(kept, { contextRef: 'default' })).toHaveLength(7);
  expect(
    await rows(
      log.db,
      'select rev, metadata, state, active_run_id, erased_at is not null as erased from lanefold.thread where id = $1',
      gone,
    ),
  ).toEqual([{ rev: '0', metadata: {}, state: {}, active_run_id: null, erased: true }]);
});

test('what a strategy found goes with the trace of its run, and with its thread', async () => {
  const threadId = await fullThread();
  const nodes = () => rows(log.db, 'select content from lanefold.run_node where thread_id = $1', threadId);
  expect(await nodes()).toEqual([{ content: 'private' }]);
  const dropped = 'select lanefold.drop_trace($1, array(select id from lanefold.run where thread_id = $1)) as n';
  expect(await rows(log.db, dropped, threadId)).toEqual([{ n: 1 }]);
  expect(await nodes()).toEqual([]);
  // what is kept of it would not add up
  await log.threads.erase(threadId);
  const erased = await fullThread();
  await log.threads.erase(erased);
  expect(await rows(log.db, 'select from lanefold._run_node where thread_id = $1', erased)).toEqual([]);
});

test('the id is never usable again', async () => {
  const id = await fullThread();
  await log.threads.erase(id);
  await refused(log.threads.create({ id }), 'thread_erased');
  await refused(log.threads.get(id), 'thread_erased');
  await refused(log.threads.append(id, [say]), 'thread_erased');
  await refused(log.contexts.switch(id, 'plan'), 'thread_erased');
  await refused(sqlRun(log.db, id, 'again').enqueue(), 'thread_erased');
  await refused(log.threads.erase(id), 'thread_erased');
  const created = value(log.db, 'select lanefold.enqueue_run($1, $2)', id, {
    create_thread: true,
    run_id: 'r',
    request_id: 'r',
    request_hash: 'aa',
    agent: 'a',
    strategy: 'react',
    model: 'm',
    context_ref: 'default',
    input: {},
  });
  await refused(created, 'thread_erased');
  await refused(rows(log.db, 'delete from lanefold.thread where id = $1', id), 'append_only');
  expect(await tablesWith(id)).toEqual([]);
});

test('a thread with a run is busy until the run has ended', async () => {
  const threadId = await newThread(log);
  const run = sqlRun(log.db, threadId, 'run');
  await run.enqueue();
  await refused(log.threads.erase(threadId), 'thread_busy');
  await run.claim();
  await refused(log.threads.erase(threadId), 'thread_busy');
  expect(await log.contexts.project(threadId)).toHaveLength(1);
  await run.commit(0, answer('done'));
  await log.threads.erase(threadId);
});

test('a thread that does not exist cannot be erased', () =>
  refused(log.threads.erase('never-made'), 'thread_not_found'));
