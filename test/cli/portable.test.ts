// @module-tag slow
import { HumanMessage } from '@langchain/core/messages';
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import { createLanefold, type Lanefold } from 'lanefold';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { callCli } from './call-cli.ts';
import { openPool } from '../support/pool.ts';

let database: TestDatabase;
let lanefold: Lanefold;
let env: Record<string, string>;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'lanefold-'));
  database = await createDatabase();
  env = { DATABASE_URL: database.url, REDIS_URL: '' };
  lanefold = await createLanefold({ databaseUrl: database.url, redisUrl: null });
});
afterAll(async () => {
  await lanefold?.close();
  await database?.drop();
  rmSync(folder, { recursive: true });
});

const run = (...args: string[]) => callCli(['threads', ...args], { env });
const write = (name: string, text: string): string => {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  return file;
};

test('a thread goes through a file, and a changed file is refused with the number of the line', async () => {
  await lanefold.threads.create({ id: 'told', systemPrompt: 'p' });
  await lanefold.threads.append('told', [{ message: { role: 'user', content: 'one\u2028two' } }]);
  const { stdout } = await run('export', 'told');
  const file = write('told.jsonl', stdout);
  expect(await run('import', '--from', 'lanefold', file, '--id', 'copy', '--tenant', 'acme')).toMatchObject({
    code: 0,
    stdout: 'copy: 3 entries\n',
  });
  expect(await lanefold.threads.peek('copy')).toMatchObject({ tenantId: 'acme', rev: 3 });
  expect((await run('import', '--from', 'lanefold', file, '--id', 'copy')).stdout).toBe(
    'copy: 3 entries, already imported\n',
  );
  const changed = write('changed.jsonl', readFileSync(file, 'utf8').replace('one', 'two'));
  expect(await run('import', '--from', 'lanefold', changed, '--id', 'changed')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^lanefold: Line 3 \(entry 1\) was changed .* \[import_refused\]\nhint: /),
  });
  expect(await run('export', 'nowhere')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('[thread_not_found]'),
  });
});

test('a history of OpenAI is imported with its notes; what is not JSON, and options of another format, are refused', async () => {
  const items = [
    { role: 'user', content: 'hi' },
    { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
  ];
  const file = write('items.json', JSON.stringify(items));
  expect(await run('import', '--from', 'openai', file, '--id', 'asked')).toMatchObject({
    code: 0,
    stdout: 'asked: 4 entries\n',
    stderr: 'repaired: tool call c: The call of f has no result; it got an error result.\n',
  });
  expect((await run('import', '--from', 'openai', write('bad.json', '[{'))).code).toBe(2);
  expect((await run('import', '--from', 'openai', file, '--thread', 't')).code).toBe(2);
  expect((await run('import', '--from', 'smalltalk', file)).code).toBe(2);
  expect((await run('import', '--from', 'openai', path.join(folder, 'none.json'))).code).toBe(2);
});

test('threads of a PostgresSaver are imported one by one, and a refused one does not keep the others back', async () => {
  const saver = new PostgresSaver(openPool({ connectionString: database.url }), undefined, { schema: 'lg' });
  try {
    await saver.setup();
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('echo', ({ messages }) => ({ messages: [{ role: 'assistant', content: `${messages.length}` }] }))
      .addEdge(START, 'echo')
      .compile({ checkpointer: saver });
    for (const id of ['g1', 'g2', 'not an id'])
      await graph.invoke({ messages: [new HumanMessage(id)] }, { configurable: { thread_id: id } });
  } finally {
    await saver.end();
  }
  const one = await run('import', '--from', 'langgraph', database.url, '--schema', 'lg', '--thread', 'g1', '--json');
  const notes = [{ where: 'messages[].id', outcome: 'left_out', what: expect.stringContaining('2 times') }];
  expect(JSON.parse(one.stdout)).toEqual({ id: 'g1', rev: 3, duplicate: false, notes });
  const all = await run('import', '--from', 'langgraph', database.url, '--schema', 'lg');
  expect(all).toMatchObject({
    code: 1,
    stdout: 'g1: 3 entries, already imported\ng2: 3 entries\n',
    stderr: expect.stringMatching(/^(?:left out: messages\[\]\.id: .*\n){2}not an id: .*\[invalid_id\]\n$/),
  });
  expect((await run('import', '--from', 'langgraph', database.url)).code).toBe(2);
});
