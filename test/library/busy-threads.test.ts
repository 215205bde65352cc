import { createLanefold, defineAgent, isLanefoldError } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { contextOf, entriesOf, expectSound } from '../support/log.ts';
import { deferred, until } from '../support/until.ts';
import { startRuntime, unset, type Runtime } from '../runtime/helpers.ts';

describe('runs of one thread', () => {
  let lanefold: Runtime;
  beforeAll(async () => {
    lanefold = await startRuntime([
      defineAgent({ name: 'a', model: unset }),
      defineAgent({ name: 'b', model: unset, instructions: 'Be b.' }),
    ]);
  });
  afterAll(() => lanefold?.close());

  test('execute in order; each message is logged only when its run starts', async () => {
    const gate = deferred();
    const slow = lanefold.model(async () => gate.promise.then(() => ({ text: 'one' })));
    const first = await lanefold.runs.enqueue({ agent: 'a', model: slow.id, input: 'first' });
    await until('the first run calls its model', () => slow.calls.length === 1);
    const waiting = [];
    for (const input of ['second', 'third', 'fourth']) {
      waiting.push(
        await lanefold.runs.enqueue({ agent: 'a', model: unset, input, threadId: first.threadId, busy: 'wait' }),
      );
    }
    expect(waiting.map((run) => run.status)).toEqual(['waiting', 'waiting', 'waiting']);
    expect(await contextOf(lanefold, first.threadId)).toEqual([['user', 'first']]);
    gate.resolve();
    for (const run of waiting) await lanefold.runs.wait(run);
    expect(await contextOf(lanefold, first.threadId)).toEqual([
      ['user', 'first'],
      ['assistant', 'one'],
      ...['second', 'third', 'fourth'].flatMap((text) => [
        ['user', text],
        ['assistant', text],
      ]),
    ]);
    await expectSound(lanefold, first.threadId);
  });

  test('are started once per request id: repeating the request returns the same run, active or ended', async () => {
    const gate = deferred();
    const slow = lanefold.model(async () => gate.promise.then(() => ({ text: 'one' })));
    const request = { agent: 'a', model: slow.id, input: 'hi', requestId: 'r1', threadId: 'once', createThread: true };
    const first = await lanefold.runs.enqueue(request);
    expect(first.duplicate).toBe(false);
    expect(await lanefold.runs.enqueue(request)).toMatchObject({ id: first.id, duplicate: true });
    const changed = await lanefold.runs.enqueue({ ...request, input: 'ho' }).catch((error: unknown) => error);
    expect(isLanefoldError(changed, 'idempotency_mismatch')).toBe(true);
    gate.resolve();
    await lanefold.runs.wait(first);
    expect(await lanefold.runs.enqueue(request)).toMatchObject({ id: first.id, duplicate: true, status: 'completed' });
    expect(slow.calls).toHaveLength(1);
    expect(await contextOf(lanefold, 'once')).toHaveLength(2);
  });

  test('are started once per request id even if the agent’s model has changed', async () => {
    const request = {
      agent: 'deployed' as const,
      input: 'hi',
      requestId: 'r2',
      threadId: 'deployed',
      createThread: true,
    };
    const clients = await Promise.all(
      ['scripted:echo', 'scripted:demo'].map((model) =>
        createLanefold({ ...lanefold.options, agents: [defineAgent({ name: 'deployed', model })] }),
      ),
    );
    const [before, after] = await Promise.all(clients.map((client) => client.runs.enqueue(request)));
    expect(after!.id).toBe(before!.id);
    const own = clients[1]!.runs.enqueue({ ...request, model: 'scripted:demo' }).catch((error: unknown) => error);
    expect(isLanefoldError(await own, 'idempotency_mismatch')).toBe(true);
    await clients[0]!.runs.cancel(before!);
    for (const client of clients) await client.close();
  });

  test('are started once for concurrent requests with the same id', async () => {
    const request = { agent: 'a', model: unset, input: 'hi', requestId: 'r1', threadId: 'race', createThread: true };
    const handles = await Promise.all(Array.from({ length: 8 }, () => lanefold.runs.enqueue(request)));
    expect(new Set(handles.map((handle) => handle.id)).size).toBe(1);
    expect(handles.filter((handle) => !handle.duplicate)).toHaveLength(1);
    await lanefold.runs.wait(handles[0]!);
    expect(await contextOf(lanefold, 'race')).toHaveLength(2);
  });

  test('are started once per request id without a thread id, too, on a new thread', async () => {
    const request = { agent: 'a', model: unset, input: 'hi', requestId: 'no-thread' };
    const handles = await Promise.all(Array.from({ length: 4 }, () => lanefold.runs.enqueue(request)));
    expect(new Set(handles.map((handle) => `${handle.threadId} ${handle.id}`)).size).toBe(1);
    await lanefold.runs.wait(handles[0]!);
    expect(await contextOf(lanefold, handles[0]!.threadId)).toHaveLength(2);
    const changed = await lanefold.runs.enqueue({ ...request, input: 'ho' }).catch((error: unknown) => error);
    expect(isLanefoldError(changed, 'idempotency_mismatch')).toBe(true);
    const other = await lanefold.runs.enqueue({ ...request, requestId: 'no-thread-2' });
    expect(other.threadId).not.toBe(handles[0]!.threadId);
  });

  test('on another lane do not see the messages of the first', async () => {
    await lanefold.run({ agent: 'a', model: unset, input: 'main', threadId: 'lanes', createThread: true });
    const side = lanefold.model([{ text: 'side answer' }]);
    await lanefold.run({ agent: 'b', model: side.id, input: 'side', threadId: 'lanes', contextRef: 'side' });
    expect(side.calls[0]!.prompt.map((message) => message.role)).toEqual(['system', 'user']);
    expect(await contextOf(lanefold, 'lanes')).toEqual([
      ['user', 'main'],
      ['assistant', 'main'],
    ]);
    expect(await contextOf(lanefold, 'lanes', 'side')).toEqual([
      ['system', 'Be b.'],
      ['user', 'side'],
      ['assistant', 'side answer'],
    ]);
    expect((await entriesOf(lanefold, 'lanes')).map((entry) => entry.contextRef)).toEqual([
      'default',
      'default',
      'side',
      'side',
      'side',
    ]);
    await expectSound(lanefold, 'lanes');
  });

  test('on many threads at once all complete, each with its own answer', async () => {
    const runs = await Promise.all(
      Array.from({ length: 40 }, (_, i) => lanefold.run({ agent: 'a', model: unset, input: `hello ${i}` })),
    );
    expect(runs.map(({ run }) => run.result)).toEqual(runs.map((_, i) => `hello ${i}`));
  });

  test('continue after a caller’s wait times out', async () => {
    const gate = deferred();
    const slow = lanefold.model(async () => gate.promise.then(() => ({ text: 'late' })));
    const run = await lanefold.runs.enqueue({ agent: 'a', model: slow.id, input: 'hi' });
    await expect(lanefold.runs.wait(run, { timeoutMs: 20 })).rejects.toMatchObject({ code: 'wait_timeout' });
    gate.resolve();
    expect(await lanefold.runs.wait(run)).toMatchObject({ result: 'late' });
  });
});
