import { agentTool, defineAgent, type RunRef } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startRuntime, unset, type Runtime } from '../runtime/helpers.ts';
import { fakeModel } from '../support/fake-model.ts';

import { placesOf } from '../support/stored-text.ts';
import { until } from '../support/until.ts';

const secret = 'crocus-41d9';
const helper = defineAgent({ name: 'helper', model: 'scripted:echo' });
const middle = defineAgent({ name: 'middle', model: 'fake:middle', tools: [agentTool(helper, { context: 'fork' })] });
const lead = defineAgent({ name: 'lead', model: unset, tools: [agentTool(middle)] });

describe('erasing a thread whose runs called agents', () => {
  let lanefold: Runtime;
  beforeAll(async () => {
    const model = fakeModel(({ prompt }) =>
      prompt.at(-1)!.role === 'tool'
        ? { text: 'done' }
        : { calls: [{ id: 'b', name: 'ask_helper', args: { task: `Look up ${secret}.` } }] },
    );
    lanefold = await startRuntime([lead, middle, helper], { models: { 'fake:middle': model } as never });
  });
  afterAll(() => lanefold?.close());

  /** The threads of a run, of the run that it started, and of the run that this one started. */
  async function tree(): Promise<[string, string, string]> {
    const calls = [{ id: 'a', name: 'ask_middle', args: { task: `Ask about ${secret}.` } }];
    const model = lanefold.model([{ calls }, { text: 'done' }]);
    const run: RunRef = await lanefold.runs.enqueue({ agent: 'lead', model: model.id, input: 'go' });
    expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed' });
    const { runs } = await lanefold.runs.tree(run);
    expect(runs.map(({ agent, status }) => [agent, status])).toEqual([
      ['lead', 'completed'],
      ['middle', 'completed'],
      ['helper', 'completed'],
    ]);
    return runs.map(({ threadId }) => threadId) as [string, string, string];
  }

  test('names the threads of all of them, which keep their text until they are erased', async () => {
    const [root, child, grandchild] = await tree();
    const [, otherChild] = await tree();
    const { childThreads, left } = await lanefold.threads.erase(root);
    expect(childThreads.sort()).toEqual([child, grandchild].sort());
    expect(left.filter((what) => what.includes('agents that its runs called'))).toHaveLength(1);
    expect(JSON.stringify(await lanefold.threads.entries(grandchild))).toContain(secret);
    for (const id of childThreads) await lanefold.threads.erase(id);
    const other = await lanefold.threads.erase(otherChild);
    expect(other.childThreads).toHaveLength(1);
    await lanefold.threads.erase(other.childThreads[0]!);
    await lanefold.threads.eraseTenant('default');
    await until('no text is left', async () => (await placesOf(lanefold, secret)).length === 0);
  });

  test('names those below one in the middle, and of the root also those whose parent is erased', async () => {
    const [root, child, grandchild] = await tree();
    expect((await lanefold.threads.erase(child)).childThreads).toEqual([grandchild]);
    expect((await lanefold.threads.erase(root)).childThreads).toEqual([grandchild]);
    const { childThreads, left } = await lanefold.threads.erase(grandchild);
    expect(childThreads).toEqual([]);
    expect(left.join()).not.toContain('agents that its runs called');
  });
});
