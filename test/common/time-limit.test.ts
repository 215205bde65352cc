import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { timed } from '../../src/base/common/timer.ts';
import type { Tool } from '../../src/agent/tools/tool.ts';
import { asksApproval, askGuard } from '../../src/agent/tools/judge-call.ts';
import { executeToolCall } from '../../src/agent/tools/execute.ts';
import { base, call, toolOf } from '../tools/helpers.ts';

const limit = 60_000;
/** The clock stands still unless work blocks the thread, so no timer decides. */
let now = 0;
beforeEach(() => void vi.spyOn(performance, 'now').mockImplementation(() => now));
afterEach(() => vi.restoreAllMocks());
const block = <T>(value: T, ms = limit + 1): T => ((now += ms), value);
const signal = new AbortController().signal;

const late = new Error('late');
const within = (start: (signal: AbortSignal) => unknown, given?: AbortSignal) =>
  timed(start, { ms: limit, signal: given, late: () => late });

test.each([
  ['returns', () => block(1)],
  ['throws', () => block(expect.fail)()],
  ['resolves', async () => (await null, block(1))],
  ['rejects', async () => (await null, block(Promise.reject(new Error('own'))))],
])('work that blocks the thread for longer than its time is late when it %s', async (_, work) => {
  let own!: AbortSignal;
  await expect(within((given) => ((own = given), work()))).rejects.toBe(late);
  expect(own.reason).toBe(late);
});

test('work that takes all of its time is not', async () => {
  expect(await within(() => block(1, limit))).toBe(1);
  expect(await within(async () => (await null, block(2, limit)))).toBe(2);
  await expect(within(async () => Promise.reject(new Error('own')))).rejects.toThrow('own');
});

test('a signal that ends it while it blocks counts more', async () => {
  const outer = new AbortController();
  const reason = new Error('cancelled');
  await expect(within(async () => block(outer.abort(reason)), outer.signal)).rejects.toBe(reason);
});

test('so it is for every piece of code with a time: tools, validators, guards and questions of approval', async () => {
  const options = { timeoutMs: limit, maxRetries: 0 };
  const blocking = toolOf(() => block('done'));
  expect(await executeToolCall(blocking, call(), base, options)).toMatchObject({ error: { type: 'timeout' } });
  const validating: Tool = { ...blocking, validate: async (value) => block({ ok: true, value }) as never };
  expect(await executeToolCall(validating, call(), base, options)).toMatchObject({
    error: { type: 'invalid_arguments', message: expect.stringContaining('did not answer within') as string },
  });
  const pending = { ...base, toolCallId: 'c', signal };
  expect(await askGuard(() => block(true), call(), pending as never, limit)).toMatchObject({
    error: { type: 'tool_guardrail' },
  });
  const asking = toolOf(() => 1, { needsApproval: () => block(false) });
  expect(await asksApproval(asking, call(), pending as never, limit)).toBe(true);
});
