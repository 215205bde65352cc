// @module-tag long
import type { BaseMessage } from '@langchain/core/messages';
import { LanefoldSaver } from 'lanefold/langgraph';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startProgram } from '../examples/program.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { until } from '../support/until.ts';

let lanefold: TestLanefold;
beforeAll(async () => void (lanefold = await startLanefold()));
afterAll(() => lanefold?.close());

const run = (thread: string, ...stop: string[]) =>
  startProgram('test/langgraph/fixtures/steps.ts', { args: [lanefold.database.url, thread, ...stop] });
const lines = (output: string, word: string) => output.split('\n').filter((line) => line.startsWith(word));

test('a graph killed in the middle of a step continues in another process, from that step', async () => {
  const saver = new LanefoldSaver(lanefold);
  const config = { configurable: { thread_id: 'killed' } };
  const outputs: string[] = [];
  const program = run('killed', '4');
  await program.says(/^step 4$/m);
  // the sibling of the step has ended, and its writes are in the log
  await until('the writes are stored', async () => {
    const tuple = await saver.getTuple(config);
    return tuple?.checkpoint.channel_values['n'] === 4 && tuple.pendingWrites!.length > 0;
  });
  program.kill();
  outputs.push((await program.ended).output);
  const last = await run('killed').ended;
  expect([last.code, last.errors]).toEqual([0, '']);
  outputs.push(last.output);
  expect(lines(last.output, 'ended')).toEqual(['ended 10']);
  // each step once, but for the one that died; its sibling, which had ended, is not repeated
  expect(outputs.flatMap((output) => lines(output, 'step'))).toEqual(
    [0, 1, 2, 3, 4, 4, 5, 6, 7, 8, 9].map((n) => `step ${n}`),
  );
  expect(outputs.flatMap((output) => lines(output, 'side'))).toEqual(
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => `side ${n}`),
  );
  const tuple = (await saver.getTuple(config))!;
  const contents = (tuple.checkpoint.channel_values['messages'] as BaseMessage[]).map(({ content }) => content);
  expect(contents).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => `Step ${n}`));
  const rows = await lanefold.contexts.project('killed', { contextRef: 'langgraph' });
  expect(rows.map(({ content }) => content)).toEqual(contents);
});
