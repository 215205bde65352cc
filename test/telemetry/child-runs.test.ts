import { agentTool, defineAgent } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { startRuntime, type Runtime } from '../runtime/helpers.ts';
import { startSdk } from './otel.ts';

describe('traces of runs that tool calls start', () => {
  let sdk: ReturnType<typeof startSdk>;
  let lanefold: Runtime;
  beforeAll(async () => {
    sdk = startSdk();
    const helper = defineAgent({ name: 'helper', model: 'scripted:["done"]' });
    const calls = [{ tools: [{ tool: 'ask_helper', args: { task: 'help' } }] }, 'Finished.'];
    const lead = defineAgent({
      name: 'lead',
      model: `scripted:${JSON.stringify(calls)}`,
      tools: [agentTool(helper)],
    });
    lanefold = await startRuntime([lead, helper], { telemetry: true });
  });
  afterAll(async () => {
    await lanefold?.close();
    await sdk?.stop();
  });

  test('a child is in the trace of its parent, below the claim that made the call', async () => {
    const { run } = await lanefold.run({ agent: 'lead', input: 'go' });
    const [, child] = (await lanefold.runs.tree(run)).runs;
    const [parents, children] = await until('both are traced', async () => {
      const found = [sdk.spansOf(run.id), sdk.spansOf(child!.id)] as const;
      return found.every((spans) => spans.some(({ name }) => name.startsWith('invoke_agent'))) ? found : undefined;
    });
    const claim = children.find(({ name }) => name.startsWith('invoke_agent'))!;
    const above = parents.find((span) => span.spanContext().spanId === claim.parentSpanContext?.spanId);
    expect(above?.attributes['lanefold.claim.first']).toBe(true);
    expect(claim.spanContext().traceId).toBe(above?.spanContext().traceId);
  });
});
