import { defineAgent } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';

describe('without a lane the active one is meant', () => {
  let lanefold: TestLanefold;
  beforeAll(async () => {
    lanefold = await startLanefold({ agents: [defineAgent({ name: 'echo', model: 'scripted:echo' })] });
  });
  afterAll(() => lanefold?.close());

  const contents = async (threadId: string, contextRef?: string) =>
    (await lanefold.contexts.project(threadId, contextRef ? { contextRef } : {})).map((row) => row.content);
  const entries = (content: string) => ({ entries: [{ role: 'user' as const, content }] });

  test('by a replace, a reset, a read and a configuration', async () => {
    const { id } = await lanefold.threads.create();
    await lanefold.contexts.replace(id, entries('first'));
    await lanefold.contexts.switch(id, 'draft');
    await lanefold.contexts.replace(id, { ...entries('second'), id: 'ctx-2' });
    expect([await contents(id), await contents(id, 'default')]).toEqual([['second'], ['first']]);
    const [entry] = await lanefold.threads.entries(id, { after: 1 });
    expect(entry!.payload).toMatchObject({ operation: { result_context: { id: 'ctx-2' } } });
    await lanefold.threads.configure(id, { contextRef: 'draft', systemPrompt: 'Be brief.' });
    expect((await lanefold.threads.config(id)).systemPrompt).toBe('Be brief.');
    await lanefold.contexts.reset(id);
    expect([await contents(id), await contents(id, 'default')]).toEqual([['Be brief.'], ['first']]);
  });

  test('by a waiting run, once it becomes active', async () => {
    const first = await lanefold.runs.enqueue({ agent: 'echo', input: 'one' });
    const { threadId } = first;
    const waiting = await lanefold.runs.enqueue({ agent: 'echo', input: 'two', threadId, busy: 'wait' });
    const named = await lanefold.runs.enqueue({
      agent: 'echo',
      input: 'three',
      threadId,
      busy: 'wait',
      contextRef: 'default',
    });
    await lanefold.contexts.switch(threadId, 'draft');
    const worker = await lanefold.startWorker();
    await lanefold.runs.wait(named);
    await worker.stop();
    expect(await lanefold.runs.get(waiting)).toMatchObject({ contextRef: 'draft', result: 'two' });
    expect(await lanefold.runs.get(named)).toMatchObject({ contextRef: 'default' });
  });
});

describe('what nobody can have meant is refused', () => {
  let lanefold: TestLanefold;
  let id: string;
  beforeAll(async () => {
    lanefold = await startLanefold();
    ({ id } = await lanefold.threads.create({ systemPrompt: '\u00a0' }));
  });
  afterAll(() => lanefold?.close());

  test('a blank prompt is none', async () => {
    expect((await lanefold.threads.config(id)).systemPrompt).toBeNull();
    expect(defineAgent({ name: 'a', model: 'm', instructions: ' \u3000' }).instructions).toBeNull();
  });

  test('a blank user message', async () => {
    const append = (content: string) => lanefold.threads.append(id, [{ message: { role: 'user', content } }]);
    await expect(append('\u0085')).rejects.toMatchObject({ code: 'empty_content' });
    await expect(lanefold.runs.steer(id, '\u00a0')).rejects.toMatchObject({ code: 'empty_content' });
  });

  test('refs of the runtime', async () => {
    for (const key of ['request_id', 'kind', 'durable']) {
      const forged = lanefold.threads.append(id, [{ kind: 'note', payload: {}, refs: { [key]: 'x' } }]);
      await expect(forged, key).rejects.toMatchObject({ code: 'invalid_input', details: { key } });
    }
  });

  test('an entry without a kind is a note, and without a payload empty', async () => {
    const { firstSeq } = await lanefold.threads.append(id, [{}]);
    const [entry] = await lanefold.threads.entries(id, { after: firstSeq - 1 });
    expect(entry).toMatchObject({ kind: 'note', payload: {} });
  });
});
