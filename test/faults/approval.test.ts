import type { RunHandle } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { until } from '../support/until.ts';
import { startCrashHarness, type CrashHarness } from './crash-harness.ts';
import type { Answer, ExternalCall } from './fixtures/call-server.ts';

describe('a worker that crashes around an approval', () => {
  let harness: CrashHarness;
  beforeAll(async () => {
    harness = await startCrashHarness();
  });
  afterAll(() => harness?.close());

  const script = (call: ExternalCall): Answer => {
    if (call.kind === 'tool') return { result: `${call.name} done` };
    const calls = ['look', 'sign'].map((name, i) => ({ id: `c${i}`, name }));
    return call.turn === 0 ? { calls } : { text: 'Signed.' };
  };
  const approve = async (run: RunHandle) => {
    await until('the run is suspended', async () => (await harness.runs.get(run)).status === 'suspended');
    await harness.runs.approve(run, '1.1');
  };

  test('just after suspending the run: the decision alone resumes it', async () => {
    const run = await harness.crash(script, { dieAfter: 'suspend_run:1', meanwhile: approve });
    expect(run.ended).toMatchObject({ status: 'completed', result: 'Signed.' });
    expect(run.ledger.map((row) => row.status)).toEqual(['ok', 'ok']);
    expect(['look', 'sign'].map((name) => harness.callServer.count(`tool:${name}`))).toEqual([1, 1]);
  });

  test('before suspending the run: the next worker requests approval and repeats no tool', async () => {
    let approved: Promise<void> | undefined;
    const run = await harness.crash(script, {
      dieAfter: 'record_tool_call:1',
      meanwhile: async (handle) => void (approved = approve(handle)),
    });
    await approved;
    expect(run.ended).toMatchObject({ status: 'completed', result: 'Signed.' });
    expect(run.events.filter((event) => event.kind === 'approval_requested')).toHaveLength(1);
    expect(['look', 'sign'].map((name) => harness.callServer.count(`tool:${name}`))).toEqual([1, 1]);
  });

  test('during the approved tool: neither the request nor the tool is repeated', async () => {
    let approved: Promise<void> | undefined;
    const run = await harness.crash((call, { child, threadId }) => {
      if (call.kind === 'model' && call.turn === 0) {
        approved ??= until('the run exists', async () => (await harness.runs.list({ threadId })).data[0]).then(
          (found) => approve(found as never),
        );
      }
      if (call.name !== 'sign') return script(call);
      return child.kill().then(() => new Promise<never>(() => {}));
    });
    await approved;
    expect(run.ended).toMatchObject({ status: 'completed', result: 'Signed.' });
    expect(run.ledger.map((row) => row.status)).toEqual(['ok', 'unknown']);
    expect(run.events.filter((event) => event.kind === 'approval_requested')).toHaveLength(1);
    expect(harness.callServer.count('tool:sign')).toBe(1);
    // it does not start again, and nothing says that it does
    const starts = run.events.filter(({ kind, data }) => kind === 'tool_started' && data['tool_name'] === 'sign');
    expect(starts).toHaveLength(1);
  });
});
