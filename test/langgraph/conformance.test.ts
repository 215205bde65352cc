// @module-tag slow
import { deltaChannelHistoryTests, specTest } from '@langchain/langgraph-checkpoint-validation';
import { LanefoldSaver } from 'lanefold/langgraph';
import { readFileSync } from 'node:fs';
import * as vitest from 'vitest';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';

// the suite of LangGraph's own savers finds vitest in the globals
const names = ['describe', 'it', 'expect', 'beforeAll', 'afterAll', 'beforeEach', 'afterEach'] as const;
for (const name of names) vitest.vi.stubGlobal(name, vitest[name]);
vitest.afterAll(() => void vitest.vi.unstubAllGlobals());

let lanefold: TestLanefold;
const suite = {
  checkpointerName: 'LanefoldSaver',
  beforeAll: async () => void (lanefold = await startLanefold()),
  beforeAllTimeout: 60_000,
  afterAll: () => lanefold.close(),
  createCheckpointer: () => new LanefoldSaver(lanefold),
  // the next saver may see nothing of this one, and uses some of its thread ids again
  destroyCheckpointer: async () => void (await lanefold.threads.eraseTenant('default')),
};

specTest(suite);
deltaChannelHistoryTests(suite);

type Task = vitest.RunnerTask;

vitest.test('the guide says how many cases there are', ({ task }) => {
  const casesOf = (tasks: readonly Task[]): number =>
    tasks.reduce((sum, each) => sum + (each.type === 'suite' ? casesOf(each.tasks) : Number(each.mode === 'run')), 0);
  const documented = /all (\d+) cases/.exec(readFileSync('docs/reference/langgraph.md', 'utf8'))?.[1];
  // this one is none of them
  vitest.expect(casesOf(task.file.tasks) - 1).toBe(Number(documented));
});
