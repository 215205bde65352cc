// @module-tag slow
import { serve, type ServerType } from '@hono/node-server';
import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';
import { createChatHandler } from 'lanefold/chat';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startPair, type Pair } from '../support/two-processes.ts';
import type { Keyboard } from '../support/typed-model.ts';
import { until } from '../support/until.ts';

describe('over HTTP, an edit that waits for the active run', () => {
  let pair: Pair;
  let server: ServerType;
  let api: string;
  beforeAll(async () => {
    pair = await startPair();
    const chat = createChatHandler(pair.front, {
      agent: 'typist',
      authorize: () => (asked) => ({ threadId: asked.chatId, run: { busy: 'wait' } }),
    });
    await new Promise<void>((ready) => {
      server = serve({ fetch: chat, hostname: '127.0.0.1', port: 0 }, () => ready());
    });
    api = `http://127.0.0.1:${(server.address() as AddressInfo).port}/chat`;
  });
  afterAll(async () => {
    await pair?.close();
    server?.close();
  });

  const user = (id: string, text: string) => ({ id, role: 'user' as const, parts: [{ type: 'text' as const, text }] });
  const textOf = (message?: UIMessage) =>
    (message?.parts ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('');
  const answer = (keys: Keyboard, text: string) => {
    keys.type(text);
    keys.stop();
  };

  /** A page with the chat; it reads what it gets in the background. */
  function open(chatId: string) {
    const transport = new DefaultChatTransport<UIMessage>({ api });
    const read = (stream: ReadableStream<UIMessageChunk>) => {
      let message: UIMessage | undefined;
      const ended = (async () => {
        for await (const next of readUIMessageStream({ stream })) message = next;
      })();
      return { ended, message: () => message, text: () => textOf(message) };
    };
    return {
      async ask(messages: UIMessage[], how: 'submit' | 'regenerate', messageId?: string) {
        const trigger = `${how}-message` as const;
        return read(await transport.sendMessages({ chatId, messages, trigger, messageId, abortSignal: undefined }));
      },
      resume: async () => read((await transport.reconnectToStream({ chatId }))!),
      async resumeAfter(id: string) {
        const path = `${api}/${chatId}/stream?after=${id}`;
        const after = new DefaultChatTransport<UIMessage>({
          api,
          prepareReconnectToStreamRequest: () => ({ api: path }),
        });
        return read((await after.reconnectToStream({ chatId }))!);
      },
      async said() {
        const { messages } = (await (await fetch(`${api}/${chatId}/messages`)).json()) as { messages: UIMessage[] };
        return messages.map((message) => textOf(message));
      },
      stop: async () => (await fetch(`${api}/${chatId}/stop`, { method: 'POST', headers: json, body: '{}' })).json(),
    };
  }
  const json = { 'content-type': 'application/json' };

  /** A question with its answer, and another one that is being answered. */
  async function busy(chatId: string) {
    const page = open(chatId);
    const first = await page.ask([user('m1', 'one')], 'submit');
    answer(await pair.model.next(), 'first');
    await first.ended;
    const second = await page.ask([user('m2', 'two')], 'submit');
    const keys = await pair.model.next();
    keys.type('sec');
    await until('it is shown', () => second.text() === 'sec');
    return { page, keys, second, said: [user('m1', 'one'), first.message()!, user('m2', 'two')] };
  }

  test('is what a page shows that is loaded again, and whose answer each resumed stream has', async () => {
    const { page, keys, second } = await busy('edit');
    const edited = await page.ask([user('m1', 'eins')], 'submit', 'm1');
    // sent again without a key: the same edit
    const repeated = await page.ask([user('m1', 'eins')], 'submit', 'm1');
    expect(await pair.front.threads.branches('edit')).toHaveLength(2);
    const reloaded = open('edit');
    expect(await reloaded.said()).toEqual(['eins']);
    const resumed = [await reloaded.resume(), await page.resumeAfter('m1')];
    // a tab with the other branch keeps to the answer that it shows
    const other = await open('edit').resumeAfter('m2');
    await until('it goes on', () => other.text() === 'sec');
    expect([edited, repeated, ...resumed].map(({ text }) => text())).toEqual(['', '', '', '']);
    answer(keys, 'ond');
    await Promise.all([second.ended, other.ended]);
    expect(other.text()).toBe('second');
    answer(await pair.model.next(), 'erste');
    for (const one of [edited, repeated, ...resumed]) {
      await one.ended;
      expect(one.message()).toEqual(edited.message());
      expect(one.text()).toBe('erste');
    }
    expect(await reloaded.said()).toEqual(['eins', 'erste']);
  });

  test('so is an answer that is given again', async () => {
    const { page, keys, second, said } = await busy('again');
    const again = await page.ask(said.slice(0, 1), 'regenerate');
    const reloaded = open('again');
    expect(await reloaded.said()).toEqual(['one']);
    const resumed = [await reloaded.resume(), await reloaded.resumeAfter('m1')];
    answer(keys, 'ond');
    await second.ended;
    answer(await pair.model.next(), 'first, again');
    for (const one of [again, ...resumed]) {
      await one.ended;
      expect(one.text()).toBe('first, again');
    }
    expect(await reloaded.said()).toEqual(['one', 'first, again']);
  });

  test('is stopped by the page that waits for it, and the conversation before is shown', async () => {
    const { page, keys, second } = await busy('stop');
    const edited = await page.ask([user('m1', 'eins')], 'submit', 'm1');
    expect(await page.stop()).toEqual({ accepted: true });
    await edited.ended;
    expect(await page.said()).toEqual(['one', 'first', 'two']);
    answer(keys, 'ond');
    await second.ended;
    expect(await page.said()).toEqual(['one', 'first', 'two', 'second']);
  });
});
