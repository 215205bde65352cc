// @module-tag slow
import http from 'node:http';
import { once } from 'node:events';
import type { RunAgentInput } from '@ag-ui/core';
import {
  clientTool,
  createLanefold,
  defineAgent,
  defineTool,
  waitFor,
  type JsonObject,
  type Lanefold,
  type ToolCallContext,
} from 'lanefold';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { clientOf, noWarnings, user } from '../ag-ui/client.ts';
import { collectGarbage } from '../support/collect-garbage.ts';

import { typedModel, type TypedModel } from '../support/typed-model.ts';
import { until } from '../support/until.ts';
import { bearer, mintKey, problem, startApi, type Api } from './helpers.ts';

describe('the endpoint for AG-UI', () => {
  let api: Api;
  let back: Lanefold;
  let model: TypedModel;
  let assertQuiet: () => void;
  const contexts: JsonObject[] = [];
  beforeAll(async () => {
    model = typedModel();
    const props = defineTool({
      name: 'props',
      input: z.object({}),
      execute: (_, { context }: ToolCallContext) => void contexts.push(context),
    });
    const dig = defineTool({ name: 'dig', input: z.object({}), needsApproval: true, execute: () => 'dug' });
    const pay = defineTool({ name: 'pay', input: z.object({}), execute: () => waitFor('paid') });
    const agents = [
      defineAgent({
        name: 'typist',
        model: 'typed:m',
        tools: [dig, pay, clientTool({ name: 'where', input: z.object({}) })],
      }),
      defineAgent({
        name: 'open',
        model: 'typed:m',
        tools: [props],
        overridable: { http: ['toolContext.forwarded_props'] },
      }),
    ];
    api = await startApi({
      agents,
      models: { typed: () => model },
      worker: false,
      tokenSecrets: ['s'],
      server: { apiKey: 'root', keyRecheckMs: 100 },
    });
    back = await createLanefold(api.lanefold.options);
    await back.startWorker();
  });
  afterAll(async () => {
    await back?.close();
    await api?.close();
  });
  beforeEach(() => void (assertQuiet = noWarnings()));
  afterEach(() => assertQuiet());

  const root = bearer('root');
  const join = (threadId: string, headers = root, agent = 'typist') =>
    clientOf({ url: `${api.url}/v1/ag-ui/${agent}`, threadId, headers });
  type Client = ReturnType<typeof join>;
  const ask = (client: Client, id: string, text: string, input: Partial<RunAgentInput> = {}) => {
    client.agent.addMessage(user(id, text));
    return client.agent.runAgent(input);
  };
  const failure = (running: Promise<unknown>) =>
    running.then(
      () => 'it succeeded',
      ({ message }: Error) => message,
    );
  const post = (body: unknown, agent = 'typist', headers = root) =>
    api.call('POST', `/v1/ag-ui/${agent}`, body, headers);
  const minimal = (threadId: string, more: object = {}) => ({ threadId, runId: 'r', messages: [], ...more });

  test('streams one JSON object in each data line, and nothing else', async () => {
    const { headers, text } = await post(minimal('bare'));
    expect(headers.get('content-type')).toBe('text/event-stream');
    expect(text).toBe(
      [
        'data: {"type":"RUN_STARTED","threadId":"bare","runId":"r","protocolVersion":"1.0"}\n\n',
        'data: {"type":"MESSAGES_SNAPSHOT","messages":[]}\n\n',
        'data: {"type":"STATE_SNAPSHOT","snapshot":{}}\n\n',
        'data: {"type":"RUN_FINISHED","threadId":"bare","runId":"r","outcome":{"type":"success"}}\n\n',
      ].join(''),
    );
    // looking creates nothing
    expect((await api.call('GET', '/v1/threads/bare', undefined, root)).status).toBe(404);
  });

  const message = { id: 'm', role: 'user', content: 'hi' };
  test.each<[path: string, change: object]>([
    ['threadId', { threadId: undefined }],
    ['threadId', { threadId: 'a thread' }],
    ['runId', { runId: '' }],
    ['runId', { runId: 7 }],
    ['messages', { messages: undefined }],
    ['messages[0].role', { messages: [{ ...message, role: 'robot' }] }],
    ['messages[0].id', { messages: [{ ...message, id: null }] }],
    ['messages[0].content', { messages: [{ ...message, content: 7 }] }],
    ['messages[0].content[0].type', { messages: [{ ...message, content: [{ type: 'hologram' }] }] }],
    ['messages[0].content[0].source', { messages: [{ ...message, content: [{ type: 'image' }] }] }],
    ['messages[0].toolCallId', { messages: [{ ...message, role: 'tool' }] }],
    [
      'messages[0].toolCalls[0].function',
      { messages: [{ id: 'a', role: 'assistant', toolCalls: [{ id: 'c', type: 'function' }] }] },
    ],
    ['tools[0].name', { tools: [{ description: '' }] }],
    ['tools[0].parameters', { tools: [{ name: 'a', description: '', parameters: null }] }],
    ['context[0].value', { context: [{ description: 'a' }] }],
    ['forwardedProps', { forwardedProps: null }],
    ['resume[0].interruptId', { resume: [{ status: 'resolved' }] }],
    ['resume[0].status', { resume: [{ interruptId: 'a', status: 'approved' }] }],
    ['resume', { resume: 'all' }],
  ])('refuses an input whose %s is malformed', async (path, change) => {
    const answer = await post({ ...minimal('malformed', { messages: [message] }), ...change });
    expect(answer).toMatchObject(problem(400, 'invalid_request'));
    const paths = (answer.body as { errors: { path: string }[] }).errors.map((error) => error.path);
    expect(
      paths.some((one) => one.startsWith(path)),
      `${path} in ${paths.join(', ')}`,
    ).toBe(true);
    await expect(api.lanefold.threads.peek('malformed')).rejects.toMatchObject({ code: 'thread_not_found' });
  });

  test('refuses what no model takes, an agent that it does not know, and other methods', async () => {
    const image = (source: object) =>
      minimal('media', { messages: [{ ...message, content: [{ type: 'image', source }] }] });
    expect(await post(image({ type: 'file', value: 'file-1' }))).toMatchObject(problem(400, 'invalid_input'));
    expect(await post(image({ type: 'data', value: '!', mimeType: 'image/png' }))).toMatchObject(
      problem(400, 'invalid_input'),
    );
    expect(await post(minimal('media', { messages: [message] }), 'nobody')).toMatchObject(
      problem(422, 'unknown_agent'),
    );
    expect(await post('{', 'typist')).toMatchObject(problem(400, 'invalid_json'));
    expect(await api.call('GET', '/v1/ag-ui/typist', undefined, root)).toMatchObject(
      problem(405, 'method_not_allowed'),
    );
    await expect(api.lanefold.threads.peek('media')).rejects.toMatchObject({ code: 'thread_not_found' });
  });

  test('gives the model what the application says, and the tools what the agent allows', async () => {
    const client = join('said', root, 'open');
    const forwardedProps = { plan: 'pro' };
    const context = [{ description: 'The page', value: 'checkout' }];
    const asked = ask(client, 'm1', 'hi', { context, forwardedProps });
    const keys = await model.next();
    expect(keys.call.prompt.at(-1)!.content).toMatchObject([{ text: 'hi' }, { text: 'The page:\ncheckout' }]);
    keys.stop({ id: 'p', name: 'props' });
    (await model.next()).stop();
    await asked;
    expect(contexts).toEqual([{ forwarded_props: forwardedProps }]);
    // what the application said is not part of what the user said
    expect(client.types()).not.toContain('MESSAGES_SNAPSHOT');
    const other = join('said', root, 'open');
    await other.agent.runAgent();
    expect(other.said()).toEqual(client.said());
    const refused = join('refused');
    expect(await failure(ask(refused, 'm1', 'hi', { forwardedProps }))).toContain('override_not_allowed');
  });

  test('is cancelled as any run is', async () => {
    const client = join('stop');
    const asked = ask(client, 'm1', 'hi');
    await model.next();
    await until('it has begun', () => client.types().includes('STEP_STARTED'));
    const started = client.events[0] as unknown as { metadata: { lanefold: { run_id: string } } };
    const path = `/v1/threads/stop/runs/${started.metadata.lanefold.run_id}/cancel`;
    expect((await api.call('POST', path, {}, root)).status).toBe(200);
    await asked;
    expect(client.last()).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'cancelled' } });
  });

  test('needs the scopes to read and to run, and those to answer', async () => {
    const key = async (...scopes: string[]) => (await mintKey(api.call, root, { scopes })).auth;
    const [run, read, both, decides, steers] = await Promise.all([
      key('run'),
      key('read'),
      key('run', 'read'),
      key('run', 'read', 'approve'),
      key('run', 'read', 'steer'),
    ]);
    for (const auth of [run, read])
      expect(await post(minimal('scopes'), 'typist', auth)).toMatchObject(problem(403, 'forbidden'));
    const client = join('scopes', both);
    const asked = ask(client, 'm1', 'dig');
    (await model.next()).stop({ id: 'd', name: 'dig' }, { id: 'p', name: 'pay' });
    await asked;
    const resume = client.agent.pendingInterrupts.map(({ id }) => {
      const payload = id.startsWith('approval') ? { approved: true } : 'paid';
      return { interruptId: id, status: 'resolved' as const, payload };
    });
    expect(resume).toHaveLength(2);
    for (const auth of [both, decides, steers])
      expect(await post(minimal('scopes', { resume }), 'typist', auth)).toMatchObject(problem(403, 'forbidden'));
    const { token } = api.lanefold.keys.browserToken({ threadId: 'scopes', access: 'chat' });
    expect(await post(minimal('scopes', { resume }), 'typist', bearer(token))).toMatchObject(problem(403, 'forbidden'));
    const all = join('scopes', await key('run', 'read', 'steer', 'approve'));
    const resumed = all.agent.runAgent({ resume });
    (await model.next()).stop();
    await resumed;
    const { toolCalls } = await api.lanefold.runs.get({
      threadId: 'scopes',
      id: (await api.lanefold.runs.list({ threadId: 'scopes' })).data[0]!.id,
    });
    expect(toolCalls.map(({ status }) => status)).toEqual(['ok', 'ok']);
    // what has been decided is not even compared for those who may not decide
    const decided = resume.filter(({ interruptId }) => interruptId.startsWith('approval'));
    expect(await post(minimal('scopes', { resume: decided }), 'typist', both)).toMatchObject(problem(403, 'forbidden'));
    const audit = await api.lanefold.audit.list({ threadId: 'scopes' });
    expect(audit.map(({ action }) => action).sort()).toEqual(['approveToolCall', 'resolveWait']);
  });

  test('a question cancels the active run for those who may steer, and is refused to others', async () => {
    const key = async (...scopes: string[]) => (await mintKey(api.call, root, { scopes })).auth;
    const [both, steers] = await Promise.all([key('run', 'read'), key('run', 'read', 'steer')]);
    const { token } = api.lanefold.keys.browserToken({ threadId: 'interrupts', access: 'chat' });
    const first = join('interrupts', both);
    let asked = ask(first, 'm1', 'tell me everything');
    await model.next();
    const question = (n: number) =>
      minimal('interrupts', { runId: `r${n}`, messages: [{ id: `q${n}`, role: 'user', content: 'in short' }] });
    const path = '/v1/ag-ui/typist';
    expect(await post(question(0), 'typist', both)).toMatchObject(problem(409, 'thread_busy'));
    expect(await api.call('POST', `${path}?busy=interrupt`, question(0), both)).toMatchObject(
      problem(403, 'forbidden'),
    );
    expect(await api.call('POST', `${path}?busy=reject`, question(0), steers)).toMatchObject(
      problem(409, 'thread_busy'),
    );
    expect(await api.call('POST', `${path}?busy=soon`, question(0), root)).toMatchObject(
      problem(400, 'invalid_request'),
    );
    expect(await api.lanefold.audit.list({ threadId: 'interrupts' })).toEqual([]);
    for (const [n, auth] of [steers, bearer(token), root].entries()) {
      const next = join('interrupts', auth);
      const running = ask(next, `q${n + 1}`, 'in short');
      await model.next();
      await asked;
      asked = running;
    }
    const { data: runs } = await api.lanefold.runs.list({ threadId: 'interrupts' });
    expect(runs.map(({ status }) => status)).toEqual(['running', 'cancelled', 'cancelled', 'cancelled']);
    const audit = await api.lanefold.audit.list({ threadId: 'interrupts' });
    expect(audit.map(({ action, detail, runId }) => [action, detail, runId])).toEqual(
      runs
        .slice(1)
        .toReversed()
        .map(({ id }) => ['runAgUi', { busy: 'interrupt' }, id]),
    );
    await api.lanefold.runs.cancel({ threadId: 'interrupts', id: runs[0]!.id });
    await asked;
  });

  test('a token of one thread does not open another, or the same one of another tenant', async () => {
    const client = join('mine');
    const asked = ask(client, 'm1', 'hi');
    (await model.next()).stop();
    await asked;
    const tokenOf = (threadId: string, access: 'read' | 'chat', tenant?: string) =>
      bearer(api.lanefold.keys.browserToken({ threadId, access, ...(tenant ? { tenant } : {}) }).token);
    for (const auth of [tokenOf('other', 'chat'), tokenOf('mine', 'read')])
      expect(await post(minimal('mine'), 'typist', auth)).toMatchObject(problem(403, 'forbidden'));
    expect(await post(minimal('mine', { invented: 1 }), 'typist', tokenOf('mine', 'chat'))).toMatchObject(
      problem(403, 'forbidden'),
    );
    const own = join('mine', tokenOf('mine', 'chat'));
    await own.agent.runAgent();
    expect(own.said()).toEqual(client.said());
    // it runs the tools of its page
    const page = join('mine', tokenOf('mine', 'chat'));
    await page.agent.runAgent();
    const more = ask(page, 'm2', 'where am I?');
    (await model.next()).stop({ id: 'w', name: 'where' });
    await more;
    const { outcome } = page.last() as unknown as { outcome: { pendingToolCallIds: string[] } };
    const toolCallId = outcome.pendingToolCallIds[0]!;
    page.agent.addMessage({ id: 'r1', role: 'tool', toolCallId, content: 'at sea' });
    const answered = page.agent.runAgent();
    (await model.next()).stop();
    await answered;
    expect(page.last()).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
    expect((await api.lanefold.audit.list({ threadId: 'mine' })).map(({ action }) => action)).toEqual(['resolveWait']);
    const { auth } = await mintKey(api.call, root, { scopes: ['run', 'read'], tenant: 'globex' });
    const others = join('mine', auth);
    await others.agent.runAgent();
    expect(others.said()).toEqual([]);
    expect(await failure(ask(others, 'm3', 'hi'))).toContain('thread_exists');
  });

  test('begins a branch after the run that a question names; to interrupt for it takes the scope steer, and is audited', async () => {
    const { auth } = await mintKey(api.call, root, { scopes: ['run', 'read'] });
    const say = async (text: string) => {
      const keys = await model.next();
      keys.type(text);
      keys.stop();
    };
    const client = join('branches', auth);
    await Promise.all([ask(client, 'a', 'A', { runId: 'r-a' }), say('one')]);
    const next = ask(client, 'b', 'B', { runId: 'r-b' });
    const keys = await model.next();
    keys.type('on');
    const body = minimal('branches', { runId: 'r-c', parentRunId: 'r-a', messages: [user('c', 'C')] });
    const refused = await post(body, 'typist', auth);
    expect([refused.status, refused.body]).toMatchObject([409, { code: 'thread_busy' }]);
    const [{ text }] = await Promise.all([post(body), say('two'), next]);
    expect(text).toContain('"delta":"two"');
    expect(await api.lanefold.threads.branches('branches')).toMatchObject([
      { contextRef: 'default', shown: false },
      { contextRef: 'default@2', shown: true, branchedAfterSeq: 1 },
    ]);
    const { data } = await api.lanefold.runs.list({ threadId: 'branches', status: 'cancelled' });
    const audit = await api.lanefold.audit.list({ threadId: 'branches' });
    expect(audit.map(({ action, detail, runId }) => [action, detail, runId])).toEqual([
      ['runAgUi', { busy: 'interrupt' }, data[0]!.id],
    ]);
  });

  test('who reads the conversation of a tenant without being bound to it is audited', async () => {
    await api.lanefold.threads.create({ id: 'theirs', tenantId: 'globex' });
    await join('theirs').agent.runAgent();
    expect(await api.lanefold.audit.list({ threadId: 'theirs' })).toMatchObject([
      { actor: 'operator', action: 'runAgUi', tenantId: 'globex' },
    ]);
  });

  test('open responses hold nothing of the bodies that they answer', { tags: 'slow' }, async () => {
    const count = 8;
    const large = JSON.stringify(
      minimal('large', { messages: [{ ...message, role: 'system', content: 'x'.repeat(3_000_000) }] }),
    );
    const asked = ask(join('large'), 'm1', 'hi');
    const keys = await model.next();
    const held = () => {
      collectGarbage();
      const { heapUsed, arrayBuffers } = process.memoryUsage();
      return heapUsed + arrayBuffers;
    };
    const before = held();
    const opening = Array.from({ length: count }, async () => {
      const request = http.request(`${api.url}/v1/ag-ui/typist`, {
        method: 'POST',
        agent: false,
        headers: { ...root, 'content-type': 'application/json' },
      });
      request.end(large);
      const [response] = (await once(request, 'response')) as [http.IncomingMessage];
      let text = '';
      response.setEncoding('utf8').on('data', (data) => (text += String(data)));
      await until('it follows the run', () => text.includes('STEP_STARTED'));
      return { ended: once(response, 'end') };
    });
    const open = await Promise.all(opening);
    await until('only the streams are left', () => held() - before < count * 1_000_000);
    keys.stop();
    await Promise.all([asked, ...open.map(({ ended }) => ended)]);
  });

  test('ends a response whose key is revoked, with the reason', async () => {
    const { auth, id } = await mintKey(api.call, root, { scopes: ['run', 'read'] });
    const client = join('revoked', auth);
    const asked = ask(client, 'm1', 'hi');
    const keys = await model.next();
    keys.type('So far');
    await until('it is shown', () => JSON.stringify(client.said()).includes('So far'));
    expect((await api.call('DELETE', `/v1/keys/${id}`, undefined, root)).status).toBeLessThan(300);
    await asked;
    expect(client.last()).toMatchObject({ type: 'RUN_ERROR', code: 'unauthorized' });
    keys.stop();
  });

  test('ends a response that does not fit the memory of the server, with the reason', async () => {
    const asked = ask(join('heavy'), 'm1', 'hi');
    const keys = await model.next();
    keys.type('x'.repeat(150_000));
    keys.stop();
    await asked;
    const server = await api.lanefold.startServer({ port: 0, apiKey: 'root', maxHeldBytes: 100_000 });
    const client = clientOf({ url: `${server.url}/v1/ag-ui/typist`, threadId: 'heavy', headers: root });
    await client.agent.runAgent();
    expect(client.types()).toEqual(['RUN_STARTED', 'RUN_ERROR']);
    expect(client.last()).toMatchObject({ code: 'server_busy', message: expect.stringContaining('again') });
    await server.close();
  });

  test('ends a response when the server closes; the run continues', async () => {
    const server = await api.lanefold.startServer({ port: 0, apiKey: 'root', onError: () => {} });
    const client = clientOf({ url: `${server.url}/v1/ag-ui/typist`, threadId: 'closing', headers: root });
    const asked = ask(client, 'm1', 'hi', { runId: 'r' });
    const keys = await model.next();
    keys.type('So far');
    await until('it is shown', () => JSON.stringify(client.said()).includes('So far'));
    await server.close();
    await asked;
    expect(client.last()).toMatchObject({ type: 'RUN_ERROR', code: 'lanefold_closed' });
    keys.type(', so good.');
    keys.stop();
    const again = join('closing');
    again.agent.setMessages(client.agent.messages);
    await again.agent.runAgent({ runId: 'r' });
    expect(again.said().map(({ content }) => content)).toEqual(['hi', 'So far, so good.']);
  });
});
