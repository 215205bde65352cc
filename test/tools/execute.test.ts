import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import type { Json } from '../../src/agent/context/message.ts';
import { executeToolCall } from '../../src/agent/tools/execute.ts';
import { ToolError } from '../../src/agent/tools/tool-error.ts';
import { defineTool } from '../../src/agent/tools/define-tool.ts';
import type { ToolCallContext } from '../../src/agent/tools/tool.ts';
import { useFakeClock, useRealClock } from '../support/fake-clock.ts';
import { base, call, deferred, toolOf } from './helpers.ts';

beforeEach(() => void useFakeClock());
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
  useRealClock();
});

const hang = () => new Promise<never>(() => {});
const boom = (fields: object = {}) => Object.assign(new Error('boom'), fields);

describe('a call', () => {
  test('gives the tool its context and the model its result', async () => {
    let seen: ToolCallContext | undefined;
    const tool = toolOf((args, ctx) => ((seen = ctx), { args }));
    expect(await executeToolCall(tool, call({ a: 1 }), base)).toEqual({
      status: 'ok',
      content: '{"args":{"a":1}}',
      attempts: 1,
      durationMs: 0,
    });
    expect(seen).toEqual({
      ...base,
      toolCallId: 'call_1',
      attempt: 1,
      idempotencyKey: 'run_1:1:3',
      signal: expect.any(AbortSignal),
    });
  });

  test('may return any thenable or an async iterable', async () => {
    const outcome = async (value: () => unknown) => (await executeToolCall(toolOf(value), call(), base)).content;
    expect(await outcome(async () => 'later')).toBe('later');
    expect(await outcome(() => ({ then: (done: (value: unknown) => void) => done('thenable') }))).toBe('thenable');
    expect(
      await outcome(async function* () {
        yield 'one';
        yield 'two';
      }),
    ).toBe('two');
    expect(await outcome(async function* () {})).toBe('null');
  });

  test('reports the duration of its last attempt in whole ms', async () => {
    const tool = toolOf(async (_, { attempt }) => {
      await new Promise((done) => setTimeout(done, attempt === 1 ? 500 : 70.4));
      if (attempt === 1) throw boom({ retryable: true });
      return 1;
    });
    const pending = executeToolCall(tool, call(), base);
    await vi.runAllTimersAsync();
    expect(await pending).toMatchObject({ attempts: 2, durationMs: 70 });
  });

  test('renders values that are not JSON, too large or unstorable like renderResult', async () => {
    const run = (value: unknown, more = {}) =>
      executeToolCall(
        toolOf(() => value, more),
        call(),
        base,
      );
    expect((await run(1n)).content).toBe('1');
    expect((await run(() => {})).error?.type).toBe('invalid_result');
    expect((await run('xxxx', { maxResultBytes: 3 })).error?.type).toBe('result_too_large');
    expect(await run('\0')).toMatchObject({ content: '\ufffd', cleaned: true });
  });
});

describe('arguments', () => {
  test.each<Json>([null, 'x', 1, ['a']])('%j is no JSON object: the tool never starts', async (args) => {
    const execute = vi.fn();
    expect((await executeToolCall(toolOf(execute), call(args), base)).error?.type).toBe('invalid_arguments');
    expect(execute).not.toHaveBeenCalled();
  });

  test('that violate the schema are refused: the tool is not executed, nor is the call retried', async () => {
    const execute = vi.fn();
    const onAttempt = vi.fn(async () => {});
    const tool = defineTool({ name: 'probe', input: z.object({ n: z.int() }), execute });
    const outcome = await executeToolCall(tool, call({ n: 'x' }), base, { onAttempt, maxRetries: 5 });
    expect(outcome).toMatchObject({ status: 'error', attempts: 0, durationMs: 0 });
    expect(outcome.error).toEqual({
      type: 'invalid_arguments',
      message: 'n: Invalid input: expected number, received string',
      retryable: false,
    });
    expect(execute).not.toHaveBeenCalled();
    expect(onAttempt).not.toHaveBeenCalled();
  });

  test('are parsed by the schema, and a throwing or hanging validator is an outcome', async () => {
    const doubled = z.object({ n: z.number().transform((n) => n * 2) });
    expect(
      (
        await executeToolCall(
          toolOf((args) => args, { input: doubled }),
          call({ n: 2 }),
          base,
        )
      ).content,
    ).toBe('{"n":4}');
    const throwing = { ...toolOf(() => 1), validate: () => Promise.reject(new Error('odd')) };
    expect((await executeToolCall(throwing, call(), base)).error).toMatchObject({
      type: 'invalid_arguments',
      message: 'odd',
    });
    const pending = executeToolCall({ ...toolOf(() => 1), validate: hang }, call(), base);
    await vi.runAllTimersAsync();
    expect((await pending).error?.type).toBe('invalid_arguments');
  });

  test('nested too deeply to copy are an outcome', async () => {
    let deep: Json = 1;
    for (let i = 0; i < 200_000; i++) deep = [deep];
    expect(
      (
        await executeToolCall(
          toolOf(() => 1),
          call({ deep }),
          base,
        )
      ).error?.type,
    ).toBe('invalid_arguments');
  });

  test('of the call do not change when the tool modifies its copy', async () => {
    const given = call({ list: [1] });
    await executeToolCall(
      toolOf((args) => (args as { list: number[] }).list.push(2)),
      given,
      base,
    );
    expect(given.arguments).toEqual({ list: [1] });
  });
});

describe('failures', () => {
  const failing = async (thrown: unknown, maxRetries = 0) =>
    executeToolCall(
      toolOf(() => {
        throw thrown;
      }),
      call(),
      base,
      { maxRetries, retryBackoffMs: 0 },
    );

  test.each([
    [boom(), { type: 'exception', message: 'boom', retryable: false }],
    [boom({ type: 'rate_limited' }), { type: 'rate_limited', message: 'boom', retryable: true }],
    [boom({ code: 'transient' }), { type: 'transient', message: 'boom', retryable: true }],
    [boom({ code: 'ENOENT' }), { type: 'ENOENT', message: 'boom', retryable: false }],
    [boom({ code: 42, type: '' }), { type: 'exception', message: 'boom', retryable: false }],
    [boom({ retryable: true }), { type: 'exception', message: 'boom', retryable: true }],
    [boom({ type: 'timeout', retryable: false }), { type: 'timeout', message: 'boom', retryable: false }],
    [boom({ retryable: 'yes' }), { type: 'exception', message: 'boom', retryable: false }],
    [new ToolError('busy', { type: 'transient_error' }), { type: 'transient_error', message: 'busy', retryable: true }],
    [new TypeError(''), { type: 'exception', message: 'TypeError', retryable: false }],
    ['plain', { type: 'exception', message: 'plain', retryable: false }],
    [undefined, { type: 'exception', message: 'The tool failed without a message', retryable: false }],
    [null, { type: 'exception', message: 'The tool failed without a message', retryable: false }],
    [Symbol('s'), { type: 'exception', message: 'Symbol(s)', retryable: false }],
    [
      { type: 'odd', n: 1 },
      { type: 'odd', message: '{"type":"odd","n":1}', retryable: false },
    ],
    [
      Object.create(null, { toJSON: { value: () => undefined } }),
      { type: 'exception', message: 'The tool threw an unreadable value', retryable: false },
    ],
    [
      new Proxy(
        {},
        {
          get: () => {
            throw new Error('trap');
          },
        },
      ),
      { type: 'exception', message: 'The tool threw an unreadable value', retryable: false },
    ],
  ])('reads thrown value %#', async (thrown, error) => {
    const outcome = await failing(thrown);
    expect(outcome.error).toEqual(error);
    expect(JSON.parse(outcome.content)).toEqual({ ok: false, error });
  });

  test('are retried only when retryable says so, in both directions', async () => {
    expect((await failing(boom(), 3)).attempts).toBe(1);
    expect((await failing(boom({ retryable: true }), 3)).attempts).toBe(4);
    expect((await failing(boom({ type: 'rate_limited' }), 3)).attempts).toBe(4);
    expect((await failing(boom({ type: 'rate_limited', retryable: false }), 3)).attempts).toBe(1);
  });

  test('the limits of the tool win over those of the run', async () => {
    const tool = toolOf(() => Promise.reject(boom({ retryable: true })), { maxRetries: 0 });
    expect((await executeToolCall(tool, call(), base, { maxRetries: 5 })).attempts).toBe(1);
  });

  test('wait the same time before each retry, with the same key and the next attempt number', async () => {
    const seen: [at: number, attempt: number, key: string][] = [];
    const start = Date.now();
    const tool = toolOf((_, { attempt, idempotencyKey }) => {
      seen.push([Date.now() - start, attempt, idempotencyKey]);
      throw boom({ type: 'transient' });
    });
    const pending = executeToolCall(tool, call(), base, { maxRetries: 2 });
    await vi.runAllTimersAsync();
    expect((await pending).attempts).toBe(3);
    expect(seen).toEqual([
      [0, 1, 'run_1:1:3'],
      [200, 2, 'run_1:1:3'],
      [400, 3, 'run_1:1:3'],
    ]);
  });
});

describe('timeout', () => {
  test('applies to each attempt, is retried, and aborts only the signal of the attempt', async () => {
    const signals: AbortSignal[] = [];
    const tool = toolOf((_, { signal }) => (signals.push(signal), hang()));
    const outer = new AbortController();
    const start = Date.now();
    const pending = executeToolCall(tool, call(), base, { signal: outer.signal }).then((o) => [o, Date.now() - start]);
    await vi.runAllTimersAsync();
    const [outcome, took] = await pending;
    expect(outcome).toMatchObject({
      status: 'error',
      attempts: 2,
      durationMs: 15_000,
      error: { type: 'timeout', message: 'The tool did not answer within 15000 ms', retryable: true },
    });
    expect(took).toBe(30_200);
    expect(signals.map((s) => s.aborted)).toEqual([true, true]);
    expect(outer.signal.aborted).toBe(false);
  });

  test('abandons a tool that ignores its signal, and ignores its late failure', async () => {
    const late = deferred<string>();
    const pending = executeToolCall(
      toolOf(() => late.promise),
      call(),
      base,
      { timeoutMs: 10, maxRetries: 0 },
    );
    await vi.advanceTimersByTimeAsync(10);
    expect((await pending).error?.type).toBe('timeout');
    late.reject(new Error('too late'));
    await vi.runAllTimersAsync();
  });

  test('a tool that throws because its signal fired is still a timeout', async () => {
    const tool = toolOf(
      (_, { signal }) =>
        new Promise((_done, fail) => signal.addEventListener('abort', () => fail(new Error('I was aborted')))),
    );
    const pending = executeToolCall(tool, call(), base, { timeoutMs: 10, maxRetries: 0 });
    await vi.runAllTimersAsync();
    expect((await pending).error?.type).toBe('timeout');
  });

  test('closes a stream that continues', async () => {
    const closed = vi.fn();
    const gate = deferred<void>();
    const tool = toolOf(async function* () {
      try {
        await gate.promise;
        yield 1;
        yield 2;
        throw new Error('not reached');
      } finally {
        closed();
      }
    });
    const pending = executeToolCall(tool, call(), base, { timeoutMs: 10, maxRetries: 0 });
    await vi.runAllTimersAsync();
    expect((await pending).error?.type).toBe('timeout');
    gate.resolve();
    await vi.runAllTimersAsync();
    expect(closed).toHaveBeenCalledOnce();
  });

  test('longer than a timer can be does not fire at once', async () => {
    const tool = toolOf(() => new Promise((done) => setTimeout(() => done('ok'), 1_000)));
    const pending = executeToolCall(tool, call(), base, { timeoutMs: Infinity });
    await vi.advanceTimersByTimeAsync(1_000);
    expect((await pending).content).toBe('ok');
  });
});

describe('abort', () => {
  const reason = new Error('lease lost');

  test('before the call starts nothing', async () => {
    const execute = vi.fn();
    await expect(executeToolCall(toolOf(execute), call(), base, { signal: AbortSignal.abort(reason) })).rejects.toBe(
      reason,
    );
    expect(execute).not.toHaveBeenCalled();
  });

  test('during an attempt rejects immediately and aborts the signal of the attempt', async () => {
    const outer = new AbortController();
    let own: AbortSignal | undefined;
    const tool = toolOf((_, { signal }) => {
      own = signal;
      return new Promise((_done, fail) => signal.addEventListener('abort', () => fail(new Error('other'))));
    });
    const pending = executeToolCall(tool, call(), base, { signal: outer.signal });
    const rejected = expect(pending).rejects.toBe(reason);
    await vi.advanceTimersByTimeAsync(5);
    outer.abort(reason);
    await rejected;
    expect(own?.reason).toBe(reason);
  });

  test('by the tool itself, in its first tick, is noticed', async () => {
    const outer = new AbortController();
    const tool = toolOf(() => (outer.abort(reason), hang()));
    await expect(executeToolCall(tool, call(), base, { signal: outer.signal })).rejects.toBe(reason);
  });

  test('during validation and during backoff', async () => {
    const validating = new AbortController();
    const first = executeToolCall({ ...toolOf(() => 1), validate: hang }, call(), base, { signal: validating.signal });
    validating.abort(reason);
    await expect(first).rejects.toBe(reason);

    const outer = new AbortController();
    const execute = vi.fn(() => Promise.reject(boom({ retryable: true })));
    const second = expect(executeToolCall(toolOf(execute), call(), base, { signal: outer.signal })).rejects.toBe(
      reason,
    );
    await vi.advanceTimersByTimeAsync(100);
    outer.abort(reason);
    await second;
    expect(execute).toHaveBeenCalledOnce();
  });
});

describe('onAttempt', () => {
  test('is awaited before each attempt', async () => {
    const order: string[] = [];
    const tool = toolOf((_, { attempt }) => {
      order.push(`run ${attempt}`);
      if (attempt === 1) throw boom({ retryable: true });
    });
    const onAttempt = async (attempt: number) => {
      await Promise.resolve();
      order.push(`started ${attempt}`);
    };
    await executeToolCall(tool, call(), base, { onAttempt, retryBackoffMs: 0 });
    expect(order).toEqual(['started 1', 'run 1', 'started 2', 'run 2']);
  });

  test('rejects the call, and an abort meanwhile keeps the tool from starting', async () => {
    const execute = vi.fn();
    const lost = new Error('lost');
    const rejecting = executeToolCall(toolOf(execute), call(), base, { onAttempt: () => Promise.reject(lost) });
    await expect(rejecting).rejects.toBe(lost);
    const outer = new AbortController();
    const aborting = executeToolCall(toolOf(execute), call(), base, {
      signal: outer.signal,
      onAttempt: async () => outer.abort(lost),
    });
    await expect(aborting).rejects.toBe(lost);
    expect(execute).not.toHaveBeenCalled();
  });
});

describe("replay 'never'", () => {
  const once = async (execute: () => unknown) => {
    let attempts = 0;
    const tool = toolOf(() => ((attempts += 1), execute()), { replay: 'never' });
    const pending = executeToolCall(tool, call(), base, { maxRetries: 3, timeoutMs: 50 });
    await vi.runAllTimersAsync();
    return { ...(await pending), ran: attempts };
  };
  const fails = (error: unknown) => () => {
    throw error;
  };

  test.each([
    ['a timeout', hang, 'timeout: The tool did not answer within 50 ms'],
    ['an exception', fails(boom()), 'exception: boom'],
    ['a lost connection', fails(boom({ code: 'ECONNRESET' })), 'ECONNRESET: boom'],
    ['a transient ToolError', fails(new ToolError('busy', { type: 'transient' })), 'transient: busy'],
  ])('%s leaves the outcome of its only attempt unknown', async (_, execute, why) => {
    const outcome = await once(execute);
    expect(outcome).toMatchObject({ status: 'unknown', attempts: 1, ran: 1 });
    const { error } = JSON.parse(outcome.content) as { error: object };
    expect(error).toMatchObject({ type: 'unknown_outcome', retryable: false, message: expect.stringContaining(why) });
  });

  test.each([
    [new ToolError('sold out', { type: 'sold_out' }), false],
    [new ToolError('busy', { type: 'rate_limited', retryable: true }), true],
    [boom({ retryable: false }), false],
  ])('an error that states that nothing happened stays an error %#', async (thrown, retryable) => {
    expect(await once(fails(thrown))).toMatchObject({ status: 'error', error: { retryable }, attempts: 1, ran: 1 });
  });

  test('cannot be combined with retries', () => {
    expect(() => toolOf(() => 1, { replay: 'never', maxRetries: 1 })).toThrow(/attempts a call once/);
  });
});
