import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { entriesOf } from '../support/log.ts';
import { startCrashHarness, type CrashHarness } from './crash-harness.ts';
import type { Answer, ExternalCall } from './fixtures/call-server.ts';

describe('a worker that crashes between a tool outcome and the commit of its round', () => {
  let harness: CrashHarness;
  beforeAll(async () => {
    harness = await startCrashHarness();
  });
  afterAll(() => harness?.close());

  const script = (call: ExternalCall): Answer => {
    const index = call.key.split(':').at(-1)!;
    if (call.kind === 'tool')
      return { result: index, effects: [{ op: 'set', value: { last: index, [`n${index}`]: true } }] };
    const calls = [0, 1, 2].map((i) => ({ id: `c${i}`, name: 'look' }));
    return call.turn === 0 ? { calls } : { text: 'Done.' };
  };

  test.each([1, 2])('after %i of 3 outcomes: effects are applied once, in call order', async (stored) => {
    const run = await harness.crash(script, { dieAfter: `record_tool_call:${stored}` });
    expect(run.ended).toMatchObject({ status: 'completed', result: 'Done.' });
    const changes = (await entriesOf(harness, run.threadId)).filter((entry) => entry.kind === 'ai_state_change');
    const operations = [0, 1, 2].map((i) => ({ op: 'set', value: { last: `${i}`, [`n${i}`]: true }, call_index: i }));
    expect(changes.map((entry) => entry.payload)).toEqual([{ operations }]);
    expect((await harness.threads.get(run.threadId)).state).toEqual({ last: '2', n0: true, n1: true, n2: true });
  });
});
