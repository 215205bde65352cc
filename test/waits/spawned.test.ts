import { agentTool, defineAgent, type RunRef } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startRuntime, unset, type Runtime } from '../runtime/helpers.ts';
import { fakeModel } from '../support/fake-model.ts';

import { deferred, until } from '../support/until.ts';

describe('a run that a call has spawned', () => {
  let lanefold: Runtime;
  const answer = deferred();
  beforeAll(async () => {
    const helper = defineAgent({ name: 'helper', model: 'helper:m' });
    const lead = defineAgent({
      name: 'lead',
      model: unset,
      tools: [agentTool(helper, { name: 'spawn', wait: false })],
    });
    const model = fakeModel(async () => {
      await answer.promise;
      return { text: 'helped' };
    });
    lanefold = await startRuntime([lead, helper], { models: { helper: () => model }, priceOf: () => 0.001 });
  });
  afterAll(() => lanefold?.close());

  test('continues after its parent has completed, which knows at last what it cost', async () => {
    const calls = [{ id: 'c0', name: 'spawn', args: { task: 'help' } }];
    const { run: parent, ...ref } = await lanefold.run({
      agent: 'lead',
      model: lanefold.model([{ calls }, { text: 'done' }]).id,
      input: 'go',
    });
    expect(parent).toMatchObject({ status: 'completed', result: 'done' });
    const child = (await lanefold.runs.tree(ref)).runs[1] as RunRef;
    answer.resolve();
    expect(await lanefold.runs.wait(child)).toMatchObject({ status: 'completed', result: 'helped' });
    const wait = await until('the parent is told', async () => {
      const text = 'select kind, status, child_ended_at, child_cost from lanefold.run_wait where run_id = $1';
      const { rows } = await lanefold.database.pool.query<{ child_ended_at: Date | null; child_cost: number }>(text, [
        ref.id,
      ]);
      return rows[0]?.child_ended_at ? rows[0] : undefined;
    });
    expect(wait).toMatchObject({ kind: 'spawn', status: 'resolved' });
    expect(wait.child_cost).toBeGreaterThan(0);
  });
});
