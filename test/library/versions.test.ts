import { createLanefold, defineAgent, defineTool, handoffTool, type AgentDefinition, type Lanefold } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';

import { eventsOf, expectSound } from '../support/log.ts';
import { until } from '../support/until.ts';
import { startRuntime, type Runtime } from '../runtime/helpers.ts';

const support = (instructions: string): AgentDefinition =>
  defineAgent({
    name: 'support',
    model: 'scripted:demo',
    instructions,
    tools: [
      defineTool({ name: 'pay', input: z.object({}), needsApproval: true, execute: () => 'paid' }),
      handoffTool('billing'),
    ],
  });
const billing = defineAgent({ name: 'billing', model: 'scripted:["billed"]' });
const script = (...turns: unknown[]) => `scripted:${JSON.stringify(turns)}`;

describe('versions of agents', () => {
  let first: Runtime;
  let second: Lanefold;
  beforeAll(async () => {
    first = await startRuntime([support('Help.'), billing]);
    second = await createLanefold({ ...first.options, agents: [support('Help kindly.'), billing] });
  });
  afterAll(async () => {
    await second?.close();
    await first?.close();
  });
  const refsOf = async (run: { threadId: string; id: string }) => {
    const { rows } = await first.database.pool.query<{ version: string }>(
      `select refs ->> 'agent_version' as version from lanefold.thread_entry
       where thread_id = $1 and run_id = $2 and role = 'assistant' order by seq`,
      [run.threadId, run.id],
    );
    return rows.map(({ version }) => version);
  };

  test('are stored when a worker starts, and named by runs and answers', async () => {
    const run = await first.runs.enqueue({ agent: 'support', input: 'hello', model: script('hi') });
    expect((await first.runs.wait(run)).agentVersion).toMatch(/^v_[0-9a-f]{24}$/);
    const [version] = await first.agents.versions('support');
    expect(version).toMatchObject({
      agent: 'support',
      runs: 1,
      completed: 1,
      failed: 0,
      meanDurationMs: expect.any(Number),
      definition: { instructions: 'Help.', tools: [{ name: 'pay', needs_approval: true }, { to_agent: 'billing' }] },
    });
    expect(await refsOf(run)).toEqual([version!.id]);
    const { rows } = await first.database.pool.query(
      `select r.agent_version, v.definition ->> 'instructions' as prompt from lanefold.run r
       join lanefold.agent_version v on v.agent = r.agent and v.id = r.agent_version where r.id = $1`,
      [run.id],
    );
    expect(rows).toEqual([{ agent_version: version!.id, prompt: 'Help.' }]);
    await expect(first.agents.diff('support', version!.id, 'v_0')).rejects.toMatchObject({ code: 'unknown_version' });
    expect(await first.agents.versions('nobody')).toEqual([]);
  });

  test('a run that continues under another version says so in its trace; a handed over one has that of its agent', async () => {
    const run = await first.runs.enqueue({
      agent: 'support',
      input: 'pay',
      model: script({ tool: 'pay', args: {} }, 'done'),
    });
    const [call] = await until('it waits', async () => {
      const { approvals } = await first.runs.get(run);
      return approvals.length > 0 && approvals;
    });
    const before = (await first.runs.get(run)).agentVersion;
    await first.worker.stop();
    const worker = await second.startWorker();
    await second.runs.approve(run, call!.call);
    const ended = await second.runs.wait(run);
    expect(ended).toMatchObject({ status: 'completed', result: 'done' });
    expect(ended.agentVersion).not.toBe(before);
    expect(await refsOf(run)).toEqual([before, ended.agentVersion]);
    const changed = (await eventsOf(first, run.threadId, run.id)).filter(({ kind }) => kind === 'version_changed');
    expect(changed).toMatchObject([{ data: { from: before, to: ended.agentVersion } }]);
    await expectSound(first, run.threadId);
    expect(await second.agents.diff('support', before!, ended.agentVersion!)).toEqual([
      { path: 'instructions', from: 'Help.', to: 'Help kindly.' },
    ]);

    const handed = await second.runs.enqueue({
      agent: 'support',
      input: 'bill',
      model: script({ tool: 'transfer_to_billing', args: {} }),
    });
    const { agent, agentVersion } = await second.runs.wait(handed);
    const [own] = await second.agents.versions('billing');
    expect([agent, agentVersion]).toEqual(['billing', own!.id]);
    expect(await refsOf(handed)).toEqual([ended.agentVersion, own!.id]);
    expect((await eventsOf(first, handed.threadId, handed.id)).map(({ kind }) => kind)).not.toContain(
      'version_changed',
    );
    await worker.stop();
  });
});
