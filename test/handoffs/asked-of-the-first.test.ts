import { defineAgent, defineTool, handoffTool } from 'lanefold';
import { afterAll, beforeAll, expect, test, describe } from 'vitest';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { until } from '../support/until.ts';
import { fakeModel, type FakeModel } from '../support/fake-model.ts';

const tool = (name: string) => defineTool({ name, input: { type: 'object' }, execute: () => name });

describe('what a request asks of its agent', () => {
  let lanefold: TestLanefold;
  const models: Record<'first' | 'second', FakeModel> = {
    first: fakeModel([1, 2].map((n) => ({ calls: [{ id: `call_${n}`, name: 'transfer_to_second' }] }))),
    second: fakeModel([{ text: 'done' }, { text: 'done' }]),
  };
  beforeAll(async () => {
    const settings = { temperature: 0.5 };
    const agents = [
      defineAgent({ name: 'first', model: 'first:m', tools: [handoffTool('second'), tool('look'), tool('ask')] }),
      defineAgent({ name: 'second', model: 'second:m', tools: [tool('look'), tool('pay')], settings }),
    ];
    lanefold = await startLanefold({ agents, models: { first: () => models.first, second: () => models.second } });
    await lanefold.startWorker();
  });
  afterAll(() => lanefold?.close());

  test('is not asked of the agent that the run is handed to', async () => {
    const run = await lanefold.runs.enqueue({
      agent: 'first',
      input: 'go',
      allowedTools: ['transfer_to_second', 'look'],
      settings: { temperature: 0, maxOutputTokens: 77 },
    });
    // tools that the next agent lacks would have it wait for another worker
    const ended = await until('the run has ended, or waits for a tool', async () => {
      const found = await lanefold.runs.get(run);
      return found.finishedAt !== null || found.unknownTools !== null ? found : undefined;
    });
    expect(ended).toMatchObject({ status: 'completed', agent: 'second', result: 'done' });
    const sent = (model: FakeModel) =>
      model.calls.map(({ tools, temperature, maxOutputTokens }) => ({
        tools: tools!.map(({ name }) => name).sort(),
        temperature,
        maxOutputTokens,
      }));
    expect(sent(models.first)).toEqual([
      { tools: ['look', 'transfer_to_second'], temperature: 0, maxOutputTokens: 77 },
    ]);
    expect(sent(models.second)).toEqual([{ tools: ['look', 'pay'], temperature: 0.5, maxOutputTokens: undefined }]);
  });

  test('stays marked: lists find the run by the model it was asked for with, as a run of its last agent', async () => {
    const run = await lanefold.runs.enqueue({ agent: 'first', input: 'go', model: 'first:cheap' });
    expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed', agent: 'second', result: 'done' });
    const { data } = await lanefold.runs.list({ mark: 'model_overridden', agent: 'second' });
    expect(data).toMatchObject([{ id: run.id, model: 'second:m', marks: [{ kind: 'model_overridden', seq: 0 }] }]);
    expect((await lanefold.runs.list({ mark: 'model_overridden', agent: 'first' })).data).toEqual([]);
  });
});
