import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';
import type { RunHandle, RunningServer } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { startPair, type Pair } from '../support/two-processes.ts';
import { until } from '../support/until.ts';

describe('the UI message stream, read by the AI SDK’s own client', () => {
  let pair: Pair;
  let server: RunningServer;
  beforeAll(async () => {
    pair = await startPair();
    server = await pair.front.startServer({ port: 0 });
  });
  afterAll(() => pair?.close());

  const start = () => pair.front.runs.enqueue({ agent: 'typist', input: 'hi' });

  /** A chat whose id is the thread's, so it finds the current answer; `run` selects one, even if it has ended. */
  const transport = (run?: RunHandle) =>
    new DefaultChatTransport<UIMessage>({
      prepareReconnectToStreamRequest: ({ id }) => ({
        api: `${server.url}/v1/threads/${id}${run ? `/runs/${run.id}` : ''}/events?format=ui`,
      }),
    });

  /** Reads the message in the background, as a chat on a page does. */
  async function join(handle: RunHandle, { byRun = false } = {}) {
    const stream = await transport(byRun ? handle : undefined).reconnectToStream({ chatId: handle.threadId });
    const chunks: UIMessageChunk[] = [];
    const errors: string[] = [];
    let message: UIMessage | undefined;
    const kept = stream!.pipeThrough(
      new TransformStream<UIMessageChunk, UIMessageChunk>({
        transform(chunk, controller) {
          chunks.push(chunk);
          controller.enqueue(chunk);
        },
      }),
    );
    const ended = (async () => {
      const messages = readUIMessageStream({ stream: kept, onError: (error) => errors.push((error as Error).message) });
      for await (const next of messages) message = next;
    })();
    ended.catch(() => {});
    const text = () => message?.parts.map((part) => (part.type === 'text' ? part.text : '')).join('') ?? '';
    return { chunks, errors, ended, text, message: () => message! };
  }

  test('shows a run with two tool calls step by step, even to a client that joins during or after the answer', async () => {
    const run = await start();
    const keys = await pair.model.next();
    const reader = await join(run);
    keys.think('Where to look?');
    keys.type('I look twice.');
    await until('the first text is shown', () => reader.text() === 'I look twice.');
    keys.stop({ id: 'c1', name: 'look', args: { at: 'the sea' } }, { id: 'c2', name: 'look', args: { at: 'nothing' } });
    const answer = await pair.model.next();
    answer.type('Only ');
    await until('the answer begins', () => reader.text().endsWith('Only '));
    const late = await join(run);
    await until('who is late has it all', () => late.text() === 'I look twice.Only ');
    answer.type('the sea.');
    answer.stop();
    await pair.front.runs.wait(run);
    const after = await join(run, { byRun: true });
    for (const seen of [reader, late, after]) {
      await seen.ended;
      expect(seen.errors).toEqual([]);
      expect(seen.message()).toMatchObject({
        id: run.id,
        role: 'assistant',
        metadata: { thread_id: run.threadId, run_id: run.id, usage: { total_tokens: 30 } },
        parts: [
          { type: 'step-start' },
          { type: 'reasoning', text: 'Where to look?', state: 'done' },
          { type: 'text', text: 'I look twice.', state: 'done' },
          {
            type: 'tool-look',
            toolCallId: 'c1',
            state: 'output-available',
            input: { at: 'the sea' },
            output: { seen: 'the sea' },
          },
          {
            type: 'tool-look',
            toolCallId: 'c2',
            state: 'output-error',
            input: { at: 'nothing' },
            errorText: 'There is nothing.',
          },
          { type: 'step-start' },
          { type: 'text', text: 'Only the sea.', state: 'done' },
        ],
      });
      expect(seen.chunks.at(-1)).toMatchObject({ type: 'finish', finishReason: 'stop' });
    }
    expect(await transport().reconnectToStream({ chatId: run.threadId })).toBeNull();
  });

  test('tells calls apart when a model reuses an id', async () => {
    const run = await start();
    const reader = await join(run);
    for (const at of ['here', 'there']) (await pair.model.next()).stop({ id: 'same', name: 'look', args: { at } });
    (await pair.model.next()).stop();
    await reader.ended;
    const shown = reader.message().parts.filter((part) => part.type === 'tool-look');
    expect(shown).toMatchObject([{ output: { seen: 'here' } }, { output: { seen: 'there' } }]);
  });

  test('retracts a broken answer before the next one', async () => {
    const run = await start();
    const reader = await join(run);
    const broken = await pair.model.next();
    broken.type('Half an ans');
    await until('the half is shown', () => reader.text() === 'Half an ans');
    broken.fail(Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' }));
    const keys = await pair.model.next();
    keys.type('A whole answer.');
    keys.stop();
    await reader.ended;
    expect(reader.text()).toBe('A whole answer.');
    expect(reader.errors).toEqual([]);
  });

  test('reports a failed run and a cancelled run', async () => {
    const failed = await start();
    const first = await join(failed);
    (await pair.model.next()).fail(new Error('The provider is out of words.'));
    await first.ended.catch(() => {});
    expect(first.chunks.at(-1)).toMatchObject({ type: 'error', errorText: expect.stringContaining('out of words') });
    const cancelled = await start();
    const second = await join(cancelled);
    (await pair.model.next()).type('Not for');
    await until('it has begun', () => second.text() === 'Not for');
    await pair.front.runs.cancel(cancelled, 'enough');
    await second.ended.catch(() => {});
    expect(second.chunks.at(-1)).toMatchObject({ type: 'abort', reason: 'enough' });
    expect(second.text()).toBe('Not for');
  });

  test('asks for human approval and continues with the decision', async () => {
    const run = await start();
    const reader = await join(run);
    (await pair.model.next()).stop({ id: 'd1', name: 'dig' }, { id: 'd2', name: 'dig' });
    const asked = await until('both are asked for', async () => {
      const { approvals } = await pair.front.runs.get(run);
      return approvals.length === 2 && approvals;
    });
    const parts = () =>
      (reader.message() as UIMessage | undefined)?.parts.filter((part) => part.type === 'tool-dig') as {
        state: string;
      }[];
    await until('it is shown', () => parts()?.filter((part) => part.state === 'approval-requested').length === 2);
    await pair.front.runs.approve(run, asked[0]!.call);
    await pair.front.runs.deny(run, asked[1]!.call, { reason: 'too deep' });
    (await pair.model.next()).stop();
    await reader.ended;
    expect(reader.errors).toEqual([]);
    expect(parts()).toMatchObject([
      { state: 'output-available', output: 'dug', approval: { approved: true } },
      { state: 'output-denied', approval: { approved: false, reason: 'too deep' } },
    ]);
  });

  test('shows input sent during the run', async () => {
    const run = await start();
    const reader = await join(run);
    const keys = await pair.model.next();
    await pair.front.runs.steer(run.threadId, 'Shorter, please.');
    keys.type('A long answer.');
    keys.stop();
    const shorter = await pair.model.next();
    shorter.type('Short.');
    shorter.stop();
    await reader.ended;
    expect(reader.message().parts.filter((part) => part.type !== 'step-start')).toMatchObject([
      { type: 'text', text: 'A long answer.' },
      { type: 'steering-message', parts: [{ type: 'text', text: 'Shorter, please.' }] },
      { type: 'text', text: 'Short.' },
    ]);
  });
});
