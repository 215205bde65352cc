// @module-tag slow
import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';
import { createChatHandler, type ChatHandler, type ChatOptions } from 'lanefold/chat';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startPair, type Pair } from '../support/two-processes.ts';
import { until } from '../support/until.ts';

/** The chunks of a stream of server-sent events. */
const chunksOfSse = () => {
  let rest = '';
  return new TransformStream<string, UIMessageChunk>({
    transform(text, out) {
      const lines = (rest + text).split('\n');
      rest = lines.pop()!;
      for (const line of lines)
        if (line.startsWith('data: {')) out.enqueue(JSON.parse(line.slice('data: '.length)) as UIMessageChunk);
    },
  });
};

describe('the chat handler, called by the AI SDK’s own transport', () => {
  let pair: Pair;
  let chat: ChatHandler;
  const handler = (options: Partial<ChatOptions> = {}) =>
    createChatHandler(pair.front, {
      agent: 'typist',
      authorize:
        () =>
        ({ chatId }) => ({ threadId: `chat:${chatId}`, tenantId: 'acme', by: 'ada' }),
      onError: () => {},
      ...options,
    });
  beforeAll(async () => {
    pair = await startPair();
    chat = handler();
  });
  afterAll(() => pair?.close());

  const base = 'https://shop.example/api/chat';
  const call = (path: string, init: RequestInit = {}, by = chat) => by(new Request(base + path, init));
  const post = (body: unknown, by = chat, type = 'application/json') =>
    call('', { method: 'POST', headers: { 'content-type': type }, body: JSON.stringify(body) }, by);
  const user = (id: string, text: string) => ({ id, role: 'user' as const, parts: [{ type: 'text' as const, text }] });
  const codeOf = async (response: Promise<Response>) => {
    const answer = await response;
    return [answer.status, ((await answer.json()) as { code?: string }).code];
  };

  const transport = () =>
    new DefaultChatTransport<UIMessage>({
      api: base,
      fetch: (url, init) => chat(new Request(url as string, init)),
    });

  /** Reads an answer in the background, on top of what the client has of it. */
  function read(stream: ReadableStream<UIMessageChunk>, before?: UIMessage) {
    let message = before;
    const chunks: UIMessageChunk[] = [];
    const kept = stream.pipeThrough(
      new TransformStream<UIMessageChunk, UIMessageChunk>({
        transform: (chunk, out) => {
          chunks.push(chunk);
          out.enqueue(chunk);
        },
      }),
    );
    const ended = (async () => {
      const messages = readUIMessageStream({ stream: kept, ...(before ? { message: structuredClone(before) } : {}) });
      for await (const next of messages) message = next;
    })();
    return { chunks, ended, message: () => message, text: () => textOf(message) };
  }
  const textOf = (message?: UIMessage) =>
    (message?.parts ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('');
  const send = async (chatId: string, ...messages: UIMessage[]) =>
    read(
      await transport().sendMessages({
        chatId,
        messages,
        trigger: 'submit-message',
        messageId: undefined,
        abortSignal: undefined,
      }),
      messages.at(-1)!.role === 'assistant' ? messages.at(-1) : undefined,
    );
  const history = async (chatId: string) =>
    ((await (await call(`/${chatId}/messages`)).json()) as { messages: UIMessage[] }).messages;

  test('sends, streams, resumes, and shows the conversation afterwards', async () => {
    expect(await history('first')).toEqual([]);
    expect(await transport().reconnectToStream({ chatId: 'first' })).toBeNull();
    const answer = await send('first', user('m1', 'hi'));
    const keys = await pair.model.next();
    keys.type('Hello ');
    await until('it is shown', () => answer.text() === 'Hello ');
    const again = read((await transport().reconnectToStream({ chatId: 'first' }))!);
    await until('so it is to who reloads', () => again.text() === 'Hello ');
    keys.type('there.');
    keys.stop();
    await Promise.all([answer.ended, again.ended]);
    expect(await history('first')).toEqual([user('m1', 'hi'), JSON.parse(JSON.stringify(again.message()))]);
    expect(answer.message()).toEqual(again.message());
    expect(await pair.front.threads.get('chat:first')).toMatchObject({ tenantId: 'acme' });
  });

  test('takes a message once, however often it is sent', async () => {
    const answer = await send('once', user('m1', 'hi'));
    const repeated = await send('once', user('m1', 'hi'));
    (await pair.model.next()).stop();
    await Promise.all([answer.ended, repeated.ended]);
    expect(repeated.message()!.id).toBe(answer.message()!.id);
    expect((await pair.front.runs.list({ threadId: 'chat:once' })).data).toHaveLength(1);
    expect(await codeOf(post({ id: 'once', message: user('m1', 'something else') }))).toEqual([
      422,
      'idempotency_mismatch',
    ]);
  });

  test('ends the stream for approvals, takes the responses, and continues the same message', async () => {
    const answer = await send('dig', user('m1', 'dig'));
    const look = { id: 'l', name: 'look', args: { at: 'the sea' } };
    (await pair.model.next()).stop({ id: 'd1', name: 'dig' }, look, { id: 'd2', name: 'dig' });
    await answer.ended;
    expect(answer.chunks.at(-1)).toMatchObject({ type: 'finish', finishReason: 'tool-calls' });
    const asked = answer.message()!;
    expect(asked.parts.slice(1)).toMatchObject([
      { state: 'approval-requested', approval: { id: '1.0' } },
      { state: 'output-available' },
      { state: 'approval-requested', approval: { id: '1.2' } },
    ]);
    expect(await history('dig')).toEqual([user('m1', 'dig'), JSON.parse(JSON.stringify(asked))]);
    const respond = (message: UIMessage, ...decisions: Record<string, boolean>[]): UIMessage => ({
      ...message,
      parts: message.parts.map((part) => {
        const id = (part as { approval?: { id: string } }).approval?.id ?? '';
        const approved = Object.assign({}, ...decisions)[id] as boolean | undefined;
        return (
          approved === undefined
            ? part
            : { ...part, state: 'approval-responded', approval: { id, approved, reason: 'so be it' } }
        ) as typeof part;
      }),
    });
    // one response: the run still waits for the other
    const half = await send('dig', user('m1', 'dig'), respond(asked, { '1.0': true }));
    await half.ended;
    expect(half.message()!.parts).toHaveLength(4);
    const rest = await send('dig', user('m1', 'dig'), respond(half.message()!, { '1.2': false }));
    const keys = await pair.model.next();
    keys.type('One hole.');
    keys.stop();
    await rest.ended;
    const [, answered] = await history('dig');
    expect(JSON.parse(JSON.stringify(rest.message()))).toEqual(answered);
    expect(answered!.parts.slice(1)).toMatchObject([
      { state: 'output-available', output: 'dug', approval: { approved: true } },
      { state: 'output-available' },
      { state: 'output-denied', approval: { approved: false, reason: 'so be it' } },
      { type: 'step-start' },
      { text: 'One hole.' },
    ]);
    const events = await pair.front.threads.events('chat:dig');
    expect(events.filter(({ kind }) => kind === 'approval_decided').map(({ data }) => data['by'])).toEqual([
      'ada',
      'ada',
    ]);
    // a response that comes too late changes nothing, and reads what was decided
    const late = await send('dig', user('m1', 'dig'), respond(asked, { '1.0': false, '1.2': true }));
    await late.ended;
    expect(JSON.parse(JSON.stringify(late.message()))).toEqual(answered);
  });

  test('stops a run, also one that waits for approval, and leaves no call open', async () => {
    expect(
      await (await call('/stop/stop', { method: 'POST', headers: { 'content-type': 'application/json' } })).json(),
    ).toEqual({ accepted: false });
    const answer = await send('stop', user('m1', 'dig'));
    (await pair.model.next()).stop({ id: 'd', name: 'dig' });
    await answer.ended;
    const stopped = await call('/stop/stop', { method: 'POST', headers: { 'content-type': 'application/json' } });
    expect(await stopped.json()).toEqual({ accepted: true });
    const { parts } = answer.message()!;
    const responded = {
      ...answer.message()!,
      parts: [parts[0]!, { ...parts[1]!, state: 'approval-responded', approval: { id: '1.0', approved: true } }],
    };
    const after = await send('stop', user('m1', 'dig'), responded as UIMessage);
    await after.ended;
    // otherwise sendAutomaticallyWhen would send it again, for ever
    expect(after.message()!.parts[1]).toMatchObject({ state: 'output-error' });
    expect(after.chunks.at(-1)).toMatchObject({ type: 'abort' });
  });

  test('streams the answer again to a page that lacks it, however its run ended and whatever followed', async () => {
    const after = (id: string, by = chat) => call(`/again/stream?after=${encodeURIComponent(id)}`, {}, by);
    const again = async (id: string) => {
      const reading = new DefaultChatTransport<UIMessage>({
        api: base,
        fetch: (url, init) => chat(new Request(`${url as string}?after=${id}`, init)),
      });
      const stream = await reading.reconnectToStream({ chatId: 'again' });
      const answer = read(stream!);
      await answer.ended.catch(() => {});
      return JSON.parse(JSON.stringify(answer.message())) as UIMessage;
    };
    const ask = async (id: string, end: (keys: Awaited<ReturnType<typeof pair.model.next>>) => unknown) => {
      const answer = await send('again', user(id, 'hi'));
      const keys = await pair.model.next();
      keys.type(`Answer to ${id}`);
      await until('it is shown', () => answer.text() === `Answer to ${id}`);
      await end(keys);
      await answer.ended.catch(() => {});
    };
    await ask('m1', (keys) => keys.stop());
    await ask('m2', () => call('/again/stop', { method: 'POST', headers: { 'content-type': 'application/json' } }));
    await ask('m3', async (keys) => {
      keys.stop({ id: 'l', name: 'look', args: { at: 'nothing' } }, { id: 'd', name: 'dig' });
      const { id } = (await pair.front.runs.list({ threadId: 'chat:again' })).data[0]!;
      const run = { threadId: 'chat:again', id };
      await until('it waits', async () => (await pair.front.runs.get(run)).status === 'suspended');
      await pair.front.runs.deny(run, '1.1');
      (await pair.model.next()).fail(new Error('out of words'));
      await pair.front.runs.wait(run);
    });
    const whole = await history('again');
    const shownTo = async () => [await again('m1'), await again('m2'), await again('m3')];
    expect(whole.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user', 'assistant']);
    const answers = whole.filter(({ role }) => role === 'assistant');
    expect((await shownTo()).map(textOf)).toEqual(answers.map(textOf));
    expect((await shownTo()).map(({ id, metadata }) => [id, metadata])).toEqual(
      answers.map(({ id, metadata }) => [id, metadata]),
    );
    // to a page that has it, that asked nothing yet, or whose question never arrived, there is nothing to send
    for (const id of [...answers.map(({ id }) => id), 'm4']) expect((await after(id)).status, id).toBe(204);
    expect((await call('/again/stream')).status).toBe(204);
    expect(await codeOf(after('not an id'))).toEqual([400, 'invalid_id']);
    const foreign = handler({ authorize: () => ({ threadId: 'chat:again', tenantId: 'evil' }) });
    expect((await after('m1', foreign)).status).toBe(204);
    // the conversation has it longer than the trace
    await pair.front.database.pool.query('delete from lanefold._event_batch where thread_id = $1', ['chat:again']);
    expect(await shownTo()).toEqual(answers);
  });

  test('refuses whoever authorize does not name a thread for, and threads of other tenants', async () => {
    expect(() => createChatHandler(pair.front, { agent: 'typist' } as never)).toThrow(/authorize/);
    expect(() => handler({ autorize: () => null } as never)).toThrow('does not take "autorize"');
    const message = user('m1', 'hi');
    for (const verdict of [null, undefined, false, {}, { threadId: 'chat:undefined' }, { threadId: 7 }, 'chat:first']) {
      const closed = handler({ authorize: () => verdict as never });
      expect(await codeOf(post({ id: 'x', message }, closed))).toEqual([403, 'forbidden']);
      expect(await codeOf(call('/first/messages', {}, closed))).toEqual([403, 'forbidden']);
      expect(await codeOf(call('/first/stream', {}, closed))).toEqual([403, 'forbidden']);
    }
    const broken = handler({ authorize: () => Promise.reject(new Error('no session store')) });
    const answer = await call('/first/messages', {}, broken);
    expect([answer.status, await answer.text()]).toEqual([500, expect.not.stringContaining('session store')]);
    const own = handler({ authorize: () => new Response('sign in', { status: 401 }) });
    expect((await call('/first/messages', {}, own)).status).toBe(401);
    const foreign = handler({
      authorize:
        () =>
        ({ chatId }) => ({ threadId: `chat:${chatId}`, tenantId: 'evil' }),
    });
    const answered = await send('mine', message);
    (await pair.model.next()).stop();
    await answered.ended;
    // as of a chat that has not begun
    expect(await (await call('/mine/messages', {}, foreign)).json()).toEqual({ messages: [], next_after: null });
    expect((await call('/mine/stream', {}, foreign)).status).toBe(204);
    const asked = post({ id: 'mine', message: user('m2', 'hi') }, foreign);
    expect(await codeOf(asked)).toEqual([404, 'thread_not_found']);
  });

  test('regenerates an answer and edits a question on branches, also under the same id and after a reload', async () => {
    const chatId = 'branching';
    const threadId = `chat:${chatId}`;
    const say = async (asked: ReturnType<typeof read>, text: string) => {
      const keys = await pair.model.next();
      keys.type(text);
      keys.stop();
      await asked.ended;
      return asked.message()!;
    };
    const ask = async (
      messages: UIMessage[],
      trigger: 'submit-message' | 'regenerate-message',
      messageId: string | undefined,
      headers?: Record<string, string>,
    ) =>
      read(
        await transport().sendMessages({
          chatId,
          messages,
          trigger,
          messageId,
          abortSignal: undefined,
          ...(headers && { headers }),
        }),
      );
    const texts = async () => (await history(chatId)).map(textOf);

    // as `sendMessage()` sends the last message again: asked once, whether or not it had arrived
    const first = await say(await ask([user('m1', 'one')], 'submit-message', 'm1'), 'first');
    const sent = await ask([user('m1', 'one')], 'submit-message', 'm1');
    await sent.ended;
    expect(sent.message()!.id).toBe(first.id);
    await say(await ask([user('m1', 'one'), first, user('m2', 'two')], 'submit-message', undefined), 'second');

    // as `regenerate()` sends it: the messages before the answer
    const asked = [user('m1', 'one'), first, user('m2', 'two')];
    const again = await say(await ask(asked, 'regenerate-message', 'gone'), 'second, again');
    expect(await texts()).toEqual(['one', 'first', 'two', 'second, again']);
    expect(again.id).not.toBe(first.id);

    // as `sendMessage({ text, messageId })` sends it: under the id of the message that is edited
    const edited = await ask([user('m1', 'eins')], 'submit-message', 'm1', { 'idempotency-key': 'edit-1' });
    const keys = await pair.model.next();
    keys.type('Ers');
    await until('it is shown', () => edited.text() === 'Ers');
    // a connection that is lost: the page asks for what follows the message that it edited
    const resumed = read(
      await (async () => {
        const { body } = await call(`/${chatId}/stream?after=m1`);
        return body!.pipeThrough(new TextDecoderStream()).pipeThrough(chunksOfSse());
      })(),
    );
    await until('so it is to the page that lost it', () => resumed.text() === 'Ers');
    keys.type('te');
    keys.stop();
    await Promise.all([edited.ended, resumed.ended]);
    expect(resumed.message()).toEqual(edited.message());
    expect(await texts()).toEqual(['eins', 'Erste']);
    // the same request again: the same answer
    const repeated = await ask([user('m1', 'eins')], 'submit-message', 'm1', { 'idempotency-key': 'edit-1' });
    await repeated.ended;
    expect(repeated.text()).toBe('Erste');

    // what is edited and regenerated next is what is shown
    await say(await ask([user('m1', 'eins')], 'regenerate-message', undefined), 'Die erste');
    expect(await texts()).toEqual(['eins', 'Die erste']);
    const { data } = await pair.front.threads.tree(threadId);
    expect(data.map(({ role, place, siblings }) => `${role} ${place}/${siblings}`)).toEqual([
      'user 1/2',
      'assistant 1/1',
      'user 1/1',
      'assistant 1/2',
      'assistant 2/2',
      'user 2/2',
      'assistant 1/2',
      'assistant 2/2',
    ]);
    await pair.front.contexts.switch(threadId, 'default');
    expect(await texts()).toEqual(['one', 'first', 'two', 'second']);
    // there, the id means the question that it had
    const own = await say(await ask([{ ...user('m3', 'uno') }], 'submit-message', 'm1'), 'Primera');
    expect(await history(chatId)).toMatchObject([{ id: 'm3' }, { id: own.id }]);
    expect(await texts()).toEqual(['uno', 'Primera']);

    expect(await codeOf(post({ id: chatId, message: user('never', 'x'), trigger: 'regenerate-message' }))).toEqual([
      400,
      'invalid_input',
    ]);
    expect(await codeOf(post({ id: chatId, message: user('m4', 'x'), messageId: 'never' }))).toEqual([
      400,
      'invalid_input',
    ]);
  });

  test('says what is wrong with a request, and writes nothing', async () => {
    const id = 'bad';
    const cases: [unknown, number, string][] = [
      [{}, 400, 'invalid_request'],
      [{ id }, 400, 'invalid_request'],
      [{ id, messages: [] }, 400, 'invalid_request'],
      [{ id, message: { ...user('m', 'hi'), role: 'system' } }, 400, 'invalid_request'],
      [{ id, message: user('not an id', 'hi') }, 400, 'invalid_id'],
      [{ id, message: user('m', ' ') }, 400, 'empty_content'],
      [{ id, message: { id: 'm', role: 'user' } }, 400, 'invalid_input'],
      [{ id, message: { id: 'm', role: 'user', parts: [{ type: 'data-x', data: 1 }] } }, 400, 'invalid_input'],
      [{ id, message: { id: 'm', role: 'assistant', parts: [] } }, 404, 'thread_not_found'],
      [{ id, message: user('m', 'hi'), trigger: 'regenerate-message' }, 404, 'thread_not_found'],
    ];
    for (const [body, status, code] of cases)
      expect(await codeOf(post(body)), JSON.stringify(body)).toEqual([status, code]);
    expect(await codeOf(post({ id, message: user('m', 'hi') }, chat, 'text/plain'))).toEqual([
      415,
      'unsupported_media_type',
    ]);
    expect(await codeOf(post({ id, message: user('m', 'x'.repeat(2_000)) }, handler({ maxBodyBytes: 1_000 })))).toEqual(
      [413, 'body_too_large'],
    );
    expect(await codeOf(call('/bad', {}))).toEqual([404, 'not_found']);
    expect(await codeOf(call('/bad/stream', { method: 'DELETE' }))).toEqual([405, 'method_not_allowed']);
    expect(await codeOf(post({ id, message: user('m', 'hi') }, handler({ agent: 'nobody' })))).toEqual([
      422,
      'unknown_agent',
    ]);
    await expect(pair.front.threads.get('chat:bad')).rejects.toMatchObject({ code: 'thread_not_found' });
  });
});
