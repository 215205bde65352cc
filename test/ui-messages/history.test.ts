// @module-tag slow
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';
import { type AnswerMetadata, type RunHandle, type UiMessage } from 'lanefold';
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from 'vitest';
import { toUiChunks } from '../../src/runs/formats/ui-messages/answer.ts';

import { expectSound } from '../support/log.ts';
import { startPair, type Pair } from '../support/two-processes.ts';
import { until } from '../support/until.ts';

test('the messages are the AI SDK’s own type', () => {
  expectTypeOf<UiMessage>().toExtend<UIMessage<AnswerMetadata>>();
});

describe('the history of a thread', () => {
  let pair: Pair;
  beforeAll(async () => {
    pair = await startPair();
  });
  afterAll(() => pair?.close());

  const start = (
    options: {
      threadId?: string;
      requestId?: string;
      busy?: 'wait';
      model?: `silent:${string}`;
      maxDurationMs?: number;
    } = {},
  ) => pair.front.runs.enqueue({ agent: 'typist', input: 'hi', createThread: true, ...options });
  const history = async (threadId: string) => (await pair.front.threads.uiMessages(threadId)).data;

  /** The answer as the AI SDK's client has it after it has read the whole stream. */
  async function streamed(run: RunHandle): Promise<UIMessage> {
    const items = pair.front.streams.follow(run.threadId, run.id, { entries: true });
    const chunks = toUiChunks(items, { threadId: run.threadId, runId: run.id });
    const stream = ReadableStream.from(chunks) as unknown as ReadableStream<UIMessageChunk>;
    let message: UIMessage | undefined;
    for await (const next of readUIMessageStream({ stream, onError: () => {} })) message = next;
    return JSON.parse(JSON.stringify(message)) as UIMessage;
  }
  const same = async (run: RunHandle) => {
    const answer = (await history(run.threadId)).find(({ id }) => id === run.id);
    expect(answer).toEqual(await streamed(run));
    return answer!;
  };

  test('is what the client of the stream has: reasoning, tools, errors, steering, usage', async () => {
    const run = await start({ requestId: 'question-1' });
    const keys = await pair.model.next();
    keys.think('Where to look?');
    keys.type('I look thrice.');
    await pair.front.runs.steer(run.threadId, 'Shorter, please.');
    const look = (at: string) => ({ id: 'c', name: 'look', args: { at } });
    keys.stop(look('the sea'), look('nothing'), look('the sky'));
    (await pair.model.next()).stop({ id: 'c', name: 'look', args: { at: 'the sea' } });
    const last = await pair.model.next();
    last.type('Only the sea.');
    last.stop();
    await pair.front.runs.wait(run);
    const answer = await same(run);
    expect(answer.parts.map(({ type }) => type)).toEqual([
      'step-start',
      'reasoning',
      'text',
      'tool-look',
      'tool-look',
      'tool-look',
      'steering-message',
      'step-start',
      'tool-look',
      'step-start',
      'text',
    ]);
    expect((await history(run.threadId))[0]).toEqual({
      id: 'question-1',
      role: 'user',
      parts: [{ type: 'text', text: 'hi' }],
    });
  });

  test('has the approvals of calls, asked, given and denied', async () => {
    const run = await start();
    const keys = await pair.model.next();
    keys.stop({ id: 'd1', name: 'dig' }, { id: 'l', name: 'look', args: { at: 'the sea' } }, { id: 'd2', name: 'dig' });
    const [first, second] = await until('both are asked for', async () => {
      const { approvals } = await pair.front.runs.get(run);
      return approvals.length === 2 && approvals;
    });
    const tools = async () => (await history(run.threadId)).at(-1)!.parts.filter(({ type }) => type !== 'step-start');
    expect(await tools()).toMatchObject([
      { toolCallId: 'd1', state: 'approval-requested', approval: { id: '1.0' } },
      // the log has it only with the whole round
      { toolCallId: 'l', state: 'output-available', output: { seen: 'the sea' } },
      { toolCallId: 'd2', state: 'approval-requested', approval: { id: '1.2' } },
    ]);
    await pair.front.runs.approve(run, first!.call);
    expect((await tools())[0]).toMatchObject({ state: 'approval-responded', approval: { approved: true } });
    await pair.front.runs.deny(run, second!.call, { reason: 'too deep' });
    (await pair.model.next()).stop();
    await pair.front.runs.wait(run);
    const answer = await same(run);
    expect(answer.parts.filter(({ type }) => type === 'tool-dig')).toMatchObject([
      { state: 'output-available', output: 'dug', approval: { id: '1.0', approved: true } },
      { state: 'output-denied', approval: { id: '1.2', approved: false, reason: 'too deep' } },
    ]);
  });

  test('keeps what a cancelled answer had written, for its readers and for the next question', async () => {
    const run = await start();
    const keys = await pair.model.next();
    keys.think('Where to begin?');
    keys.type('Once upon a ');
    for await (const item of pair.front.runs.stream(run)) if ('text' in item && item.text !== '') break;
    await pair.front.runs.cancel(run, 'enough');
    const ended = await pair.front.runs.wait(run);
    expect(ended).toMatchObject({ status: 'cancelled', result: null, error: { message: 'enough' } });
    // the provider has counted tokens, but did not come to say how many
    expect(ended.usage!['estimated_tokens']).toBe(ended.usage!.total_tokens);
    const answer = await same(run);
    expect(answer).toMatchObject({
      metadata: { error: { type: 'cancelled', message: 'enough' } },
      parts: [
        { type: 'step-start' },
        { type: 'reasoning', text: 'Where to begin?' },
        { type: 'text', text: 'Once upon a ' },
      ],
    });
    const call = await pair.front.contexts.call(run.threadId, `${run.id}.1`);
    expect(call).toMatchObject({ verified: true, finishReason: 'cancelled' });

    const next = await start({ threadId: run.threadId });
    const asked = await pair.model.next();
    expect(JSON.stringify(asked.call.prompt)).toContain('Once upon a ');
    // no word of it: nothing is kept, and nothing is in the way of the next question
    await pair.front.runs.cancel(next);
    await pair.front.runs.wait(next);
    expect((await history(run.threadId)).at(-1)).toMatchObject({ id: next.id, parts: [] });
    const last = await start({ threadId: run.threadId });
    (await pair.model.next()).stop();
    expect(await pair.front.runs.wait(last)).toMatchObject({ status: 'completed' });
    await expectSound(pair.front, run.threadId);
  });

  test('says how a run ended: failed, cancelled with open calls, at its limit', async () => {
    const failed = await start();
    (await pair.model.next()).fail(new Error('The provider is out of words.'));
    await pair.front.runs.wait(failed);
    // of the call that failed the stream has the start of its step
    expect(await streamed(failed)).toMatchObject({ parts: [{ type: 'step-start' }] });
    expect((await history(failed.threadId)).at(-1)).toMatchObject({
      id: failed.id,
      metadata: (await streamed(failed)).metadata,
      parts: [],
    });
    expect((await streamed(failed)).metadata).toMatchObject({
      error: { message: expect.stringContaining('out of words') },
    });

    const cancelled = await start();
    (await pair.model.next()).stop({ id: 'd', name: 'look', args: { at: 'the sea' } }, { id: 'e', name: 'dig' });
    await until('it waits', async () => (await pair.front.runs.get(cancelled)).status === 'suspended');
    await pair.front.runs.cancel(cancelled, 'enough');
    const answer = (await history(cancelled.threadId)).at(-1)!;
    expect(answer).toMatchObject({
      metadata: { error: { type: 'cancelled', message: 'enough' } },
      parts: [{ type: 'step-start' }, { state: 'output-available' }, { state: 'output-error' }],
    });
    expect(await streamed(cancelled)).toMatchObject(answer);

    const endless = await start();
    for (let n = 0; n < 5; n++)
      (await pair.model.next()).stop({ id: 'again', name: 'look', args: { at: `place ${n}` } });
    await pair.front.runs.wait(endless);
    const limited = await same(endless);
    expect(limited.metadata).toMatchObject({ termination_reason: 'max_iterations' });
    // nothing that could pass for an answer
    expect(limited.parts.filter(({ type }) => type === 'text')).toEqual([]);

    const short = await start({ model: 'silent:m', maxDurationMs: 50 });
    await pair.front.runs.wait(short);
    expect((await history(short.threadId)).at(-1)).toEqual({
      id: short.id,
      role: 'assistant',
      metadata: { thread_id: short.threadId, run_id: short.id, termination_reason: 'max_duration' },
      parts: [],
    });
  });

  test('pages back by whole turns, with messages of no run and questions that wait', async () => {
    const { id } = await pair.front.threads.create();
    await pair.front.threads.append(id, [
      {
        message: {
          role: 'user',
          content: [{ type: 'file', media_type: 'text/plain', data: 'aGk=', filename: 'a.txt' }],
        },
      },
      { message: { role: 'assistant', content: '', tool_calls: [{ id: 'x', name: 'look', arguments: {} }] } },
      { message: { role: 'tool', tool_call_id: 'x', content: '{"ok":false,"error":{"message":"dark"}}' } },
      { message: { role: 'assistant', content: 'Nothing.' } },
    ]);
    for (let n = 0; n < 2; n++) {
      const asked = await start({ threadId: id });
      const keys = await pair.model.next();
      keys.type(`Answer ${n}.`);
      keys.stop();
      await pair.front.runs.wait(asked);
    }
    const running = await start({ threadId: id, requestId: 'now' });
    const waiting = await start({ threadId: id, requestId: 'later', busy: 'wait' });
    const keys = await pair.model.next();
    const said = (messages: UiMessage[]) =>
      messages.map(
        ({ id: own, parts }) =>
          (own.startsWith('run_') ? '' : `${own} `) +
          parts.map((part) => ('text' in part ? part.text : part.type)).join(','),
      );

    const newest = await pair.front.threads.uiMessages(id, { limit: 2 });
    expect(said(newest.data)).toEqual([expect.stringContaining('hi'), 'step-start,Answer 1.', 'now hi', 'later hi']);
    const older = await pair.front.threads.uiMessages(id, { limit: 2, after: newest.nextAfter! });
    expect(older.nextAfter).toBeNull();
    expect(older.data[0]).toEqual({
      id: 'entry_0',
      role: 'user',
      parts: [{ type: 'file', mediaType: 'text/plain', url: 'data:text/plain;base64,aGk=', filename: 'a.txt' }],
    });
    expect(older.data[1]!.parts[1]).toMatchObject({ type: 'tool-look', state: 'output-error', errorText: 'dark' });
    expect(said(older.data).at(-1)).toBe('step-start,Answer 0.');
    keys.stop();
    (await pair.model.next()).stop();
    await Promise.all([pair.front.runs.wait(running), pair.front.runs.wait(waiting)]);
    expect(said((await pair.front.threads.uiMessages(id)).data).filter((text) => text === 'later hi')).toHaveLength(1);
  });

  test('is served over HTTP', async () => {
    const run = await start({ requestId: 'http' });
    (await pair.model.next()).stop();
    await pair.front.runs.wait(run);
    const server = await pair.front.startServer({ port: 0 });
    const url = `${server.url}/v1/threads/${run.threadId}/ui-messages`;
    const page = await (await fetch(`${url}?limit=1`)).json();
    expect(page).toEqual({ data: await history(run.threadId), next_after: null });
    expect((await fetch(`${url}?after=nonsense`)).status).toBe(400);
    expect((await fetch(`${server.url}/v1/threads/nobody/ui-messages`)).status).toBe(404);
  });
});
