import { defineAgent, defineTool, sleep, sleepUntil, waitFor, withEffects, type RunHandle } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { eventsOf, expectSound, ledgerOf } from '../support/log.ts';
import { until } from '../support/until.ts';
import { startRuntime, unset, type Runtime } from '../runtime/helpers.ts';

const event = z.object({ event: z.string(), timeoutMs: z.number().optional() });
const tools = [
  defineTool({
    name: 'await_event',
    input: event,
    replay: 'never',
    execute: ({ event: name, timeoutMs }) => waitFor(name, timeoutMs === undefined ? {} : { timeoutMs }),
  }),
  defineTool({ name: 'nap', input: z.object({ ms: z.number() }), execute: ({ ms }) => sleep(ms) }),
  defineTool({ name: 'nap_until', input: z.object({ at: z.string() }), execute: ({ at }) => sleepUntil(new Date(at)) }),
  defineTool({ name: 'look', input: z.object({}), execute: () => 'looked' }),
  defineTool({
    name: 'both',
    input: z.object({}),
    execute: () => withEffects(waitFor('both'), [{ op: 'set', value: { a: 1 } }]),
  }),
  defineTool({ name: 'pay', input: z.object({}), needsApproval: true, execute: () => waitFor('paid') }),
];

describe('waiting for events and times', () => {
  let lanefold: Runtime;
  let count = 0;
  beforeAll(async () => {
    lanefold = await startRuntime([defineAgent({ name: 'a', model: unset, tools })], {
      worker: { sweepMs: 50 },
      tokenSecrets: ['a secret of this test'],
    });
  });
  afterAll(() => lanefold?.close());

  const call = (name: string, args: object = {}, id = name) => ({ id, name, args });
  const start = async (calls: ReturnType<typeof call>[], options: { threadId?: string } = {}) => {
    const model = lanefold.model([{ calls }, { text: 'done' }]);
    return lanefold.runs.enqueue({ agent: 'a', model: model.id, input: 'go', ...options });
  };
  const suspended = (run: RunHandle, waits = 1) =>
    until('the run is suspended', async () => {
      const found = await lanefold.runs.get(run);
      return found.status === 'suspended' && found.waits.length === waits ? found : undefined;
    });
  const ended = (run: RunHandle) => lanefold.runs.wait(run);
  const results = async (run: RunHandle) =>
    (await ledgerOf(lanefold, run.threadId, run.id)).map(({ status, result }) => [status, result]);
  const unique = () => `event-${(count += 1)}`;

  test('a call waits without a worker until its event comes, and gets the payload as its result', async () => {
    const name = unique();
    const run = await start([call('look'), call('await_event', { event: name })]);
    const waiting = await suspended(run);
    expect(waiting).toMatchObject({
      approvals: [],
      suspendedUntil: null,
      waits: [
        { call: '1.1', round: 1, index: 1, name: 'await_event', kind: 'event', event: name, run: null, until: null },
      ],
    });
    expect((await lanefold.waits.list({ event: name })).data).toMatchObject([
      {
        threadId: run.threadId,
        runId: run.id,
        call: '1.1',
        round: 1,
        index: 1,
        name: 'await_event',
        kind: 'event',
        event: name,
      },
    ]);
    expect(lanefold.worker.active).toBe(0);
    const sent = await lanefold.events.send(name, { paid: 42 }, { by: 'the bank' });
    expect(sent).toEqual({
      event: name,
      resolved: [{ threadId: run.threadId, runId: run.id, call: '1.1', round: 1, index: 1 }],
      kept: false,
    });
    expect(await ended(run)).toMatchObject({ status: 'completed', result: 'done', waits: [] });
    expect(await results(run)).toEqual([
      ['ok', 'looked'],
      ['ok', '{"paid":42}'],
    ]);
    const kinds = (await eventsOf(lanefold, run.threadId, run.id)).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind.startsWith('wait_'))).toEqual(['wait_started', 'wait_ended']);
    await expectSound(lanefold, run.threadId);
    expect((await lanefold.events.send(name, 'again')).resolved).toEqual([]);
  });

  test('an event reaches all calls that wait for it, and each of several waits of a round once', async () => {
    const [one, other] = [unique(), unique()];
    const runs = await Promise.all([
      start([call('await_event', { event: one }), call('await_event', { event: other }, 'second')]),
      start([call('await_event', { event: one })]),
    ]);
    await Promise.all([suspended(runs[0]!, 2), suspended(runs[1]!)]);
    expect((await lanefold.events.send(one, 'first')).resolved).toHaveLength(2);
    expect(await ended(runs[1]!)).toMatchObject({ status: 'completed' });
    await suspended(runs[0]!, 1);
    expect((await lanefold.events.send(other)).resolved).toHaveLength(1);
    expect(await ended(runs[0]!)).toMatchObject({ status: 'completed' });
    expect(await results(runs[0]!)).toEqual([
      ['ok', 'first'],
      ['ok', 'null'],
    ]);
  });

  test('of two events at once, the first one counts', async () => {
    const name = unique();
    const run = await start([call('await_event', { event: name })]);
    await suspended(run);
    const sent = await Promise.all(['a', 'b', 'c'].map((payload) => lanefold.events.send(name, payload)));
    expect(sent.flatMap(({ resolved }) => resolved)).toHaveLength(1);
    const winner = sent.findIndex(({ resolved }) => resolved.length === 1);
    await ended(run);
    expect(await results(run)).toEqual([['ok', ['a', 'b', 'c'][winner]]]);
  });

  test('an event that was kept ends a wait that begins later; another is lost', async () => {
    const name = unique();
    expect(await lanefold.events.send(name, 'early', { keepMs: 60_000 })).toEqual({
      event: name,
      resolved: [],
      kept: true,
    });
    const run = await start([call('await_event', { event: name })]);
    expect(await ended(run)).toMatchObject({ status: 'completed' });
    expect(await results(run)).toEqual([['ok', 'early']]);
    const lost = unique();
    expect((await lanefold.events.send(lost, 'early')).resolved).toEqual([]);
    await suspended(await start([call('await_event', { event: lost })]));
  });

  test('time is up: the call fails with `timeout`, and a sleeping call wakes', async () => {
    const run = await start([
      call('await_event', { event: unique(), timeoutMs: 1 }),
      call('nap', { ms: 1 }),
      call('nap_until', { at: '2020-01-01T00:00:00Z' }),
    ]);
    expect(await ended(run)).toMatchObject({ status: 'completed' });
    const [expired, ...slept] = await results(run);
    expect(expired).toEqual(['error', expect.stringContaining('"timeout"')]);
    expect(slept).toEqual([
      ['ok', expect.stringContaining('waited_until')],
      ['ok', expect.stringContaining('2020-01-01')],
    ]);
  });

  test('a wait can be resolved by hand, once', async () => {
    const run = await start([call('await_event', { event: unique() }), call('await_event', { event: unique() }, 'b')]);
    await suspended(run, 2);
    const resolve = (index: number, options: object) => lanefold.waits.resolve(run, `1.${index}`, options);
    await expect(resolve(0, { extraRefs: { kind: 'steer' } })).rejects.toMatchObject({ code: 'invalid_input' });
    const extraRefs = { ticket: 7 };
    expect(await resolve(0, { result: { ok: 1 }, by: 'ada', extraRefs })).toEqual({
      resolved: true,
      wait: 'overridden',
      status: 'suspended',
    });
    expect(await resolve(0, { result: 2 })).toMatchObject({ resolved: false, wait: 'overridden' });
    expect(await resolve(1, { error: 'The order was cancelled' })).toMatchObject({ resolved: true, status: 'queued' });
    expect(await ended(run)).toMatchObject({ status: 'completed' });
    expect(await results(run)).toEqual([
      ['ok', '{"ok":1}'],
      ['error', expect.stringContaining('The order was cancelled')],
    ]);
    const entries = await lanefold.threads.entries(run.threadId);
    expect(entries.filter(({ role }) => role === 'tool').map(({ refs }) => refs['ticket'])).toEqual([7, undefined]);
    await expect(resolve(0, {})).resolves.toMatchObject({ resolved: false, status: 'completed' });
    await expect(resolve(7, {})).rejects.toMatchObject({ code: 'tool_call_not_found' });
    await expect(resolve(0, { result: 1, error: 'x' })).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('a call may need approval first, and then wait', async () => {
    const run = await start([call('pay')]);
    const asked = await suspended(run);
    expect(asked.waits).toMatchObject([{ kind: 'approval', name: 'pay' }]);
    await expect(lanefold.waits.resolve(run, '1.0')).rejects.toMatchObject({
      code: 'tool_call_not_found',
    });
    await lanefold.runs.approve(run, '1.0');
    await until('it waits for the event', async () => (await lanefold.runs.get(run)).waits[0]?.kind === 'event');
    await lanefold.events.send('paid', 'yes');
    expect(await ended(run)).toMatchObject({ status: 'completed' });
    expect(await results(run)).toEqual([['ok', 'yes']]);
  });

  test('a cancelled run leaves its waits; later events find none', async () => {
    const name = unique();
    const run = await start([call('await_event', { event: name })]);
    await suspended(run);
    await lanefold.runs.cancel(run);
    expect(await lanefold.runs.get(run)).toMatchObject({ status: 'cancelled', waits: [] });
    expect((await lanefold.events.send(name)).resolved).toEqual([]);
    const { rows } = await lanefold.database.pool.query('select status from lanefold.run_wait where run_id = $1', [
      run.id,
    ]);
    expect(rows).toEqual([{ status: 'abandoned' }]);
    await expectSound(lanefold, run.threadId);
  });

  test('a wait with effects, or for a name that is no id, fails the call', async () => {
    const run = await start([call('both'), call('await_event', { event: 'two words' })]);
    expect(await ended(run)).toMatchObject({ status: 'completed' });
    const [both, named] = await results(run);
    expect(both).toEqual(['error', expect.stringContaining('invalid_result')]);
    expect(named![1]).toContain('not a valid id');
  });

  test('bad input is refused, and nothing is written', async () => {
    const send = (name: string, payload?: unknown, options?: object) => lanefold.events.send(name, payload, options);
    await expect(send('two words')).rejects.toMatchObject({ code: 'invalid_id' });
    await expect(send('e', 'x'.repeat(300_000))).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(send('e', 'a\u0000b')).rejects.toMatchObject({ code: 'invalid_text' });
    await expect(send('e', 1, { keepMs: -1 })).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(send('e', 1, { keep: 1 })).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(lanefold.events.token('two words')).rejects.toMatchObject({ code: 'invalid_id' });
  });
});
