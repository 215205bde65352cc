import { expect, test } from 'vitest';
import { CallPool } from '../../../src/worker/run/call-pool.ts';
import type { PromptedCall, StrategyEvent } from '../../../src/agent/strategies/machine.ts';

const called = (...ids: string[]) => ids.map((callId) => ({ callId }) as PromptedCall);
const answerOf = ({ callId }: PromptedCall) => ({ kind: 'answered', callId }) as unknown as StrategyEvent;

test('an answer that has arrived goes before a call that failed', async () => {
  const pool = new CallPool((call) =>
    call.callId === 'refused' ? Promise.reject(new Error('refused')) : Promise.resolve(answerOf(call)),
  );
  const { signal } = new AbortController();
  expect(await pool.next(called('first', 'refused', 'second'), 3, signal)).toMatchObject({ callId: 'first' });
  expect(await pool.next(called('refused', 'second'), 3, signal)).toMatchObject({ callId: 'second' });
  await expect(pool.next(called('refused'), 3, signal)).rejects.toThrow('refused');
});
