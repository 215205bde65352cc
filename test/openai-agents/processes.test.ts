// @module-tag long
import { LanefoldSession } from 'lanefold/openai-agents';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startProgram } from '../examples/program.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';

let lanefold: TestLanefold;
beforeAll(async () => void (lanefold = await startLanefold()));
afterAll(() => lanefold?.close());

test('two processes that change a session at once lose and repeat nothing', async () => {
  const count = 30;
  const programs = ['a', 'b'].map((name) =>
    startProgram('test/openai-agents/fixtures/adder.ts', {
      args: [lanefold.database.url, 'shared', name, String(count)],
    }),
  );
  const ended = await Promise.all(programs.map((program) => program.ended));
  expect(ended.map(({ code, errors }) => [code, errors])).toEqual([
    [0, ''],
    [0, ''],
  ]);
  const popped = ended.flatMap(({ output }) => JSON.parse(output) as string[]);
  expect(popped).toHaveLength((2 * count) / 3);
  const items = await new LanefoldSession(lanefold, { sessionId: 'shared' }).getItems();
  const contents = items.map((item) => (item as { content: string }).content);
  const all = ['a', 'b'].flatMap((name) => Array.from({ length: count }, (_, n) => `${name} ${n}`));
  expect([...contents, ...popped].sort()).toEqual(all.sort());
  const rows = await lanefold.contexts.project('shared', { contextRef: 'openai_agents' });
  expect(rows.map(({ content }) => content)).toEqual(contents);
});
