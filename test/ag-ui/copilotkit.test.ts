// @module-tag slow
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { CopilotKitCore, ProxiedCopilotRuntimeAgent, type FrontendTool } from '@copilotkit/core';
import { serve, type ServerType } from '@hono/node-server';
import { Hono } from 'hono';
import { clientTool, createLanefold, defineAgent, defineTool, type Lanefold } from 'lanefold';
import { createAgUiHandler, type AgUiHandler } from 'lanefold/ag-ui';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { typedModel, type TypedModel } from '../support/typed-model.ts';
import { until } from '../support/until.ts';
import { idsOf, loggedIds } from './thread.ts';

/** The routes of CopilotKit's runtime, in front of a handler for each agent. */
class Runtime {
  readonly #server: ServerType;
  /** The responses that are open, by thread. */
  readonly #open = new Map<string, AbortController>();
  stops = 0;

  constructor(handlers: Record<string, AgUiHandler>) {
    const app = new Hono();
    for (const path of ['/agent/:agent/run', '/agent/:agent/connect'])
      app.post(path, async (c) => {
        const body = await c.req.text();
        const left = new AbortController();
        this.#open.set((JSON.parse(body) as { threadId: string }).threadId, left);
        const init = { method: 'POST', body, signal: left.signal, headers: { 'content-type': 'application/json' } };
        return handlers[c.req.param('agent')!]!(new Request('https://shop.example/ag-ui', init));
      });
    // the runtime leaves the response of its agent, which cancels nothing
    app.post('/agent/:agent/stop/:thread', (c) => {
      this.#open.get(c.req.param('thread'))?.abort();
      this.stops += 1;
      return c.json({ stopped: true });
    });
    this.#server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' });
  }

  async url(): Promise<string> {
    if (!this.#server.listening) await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close = (): Promise<void> => new Promise((done) => this.#server.close(() => done()));
}

describe('the core of CopilotKit', () => {
  let front: TestLanefold;
  let back: Lanefold;
  let runtime: Runtime;
  let model: TypedModel;
  beforeAll(async () => {
    model = typedModel();
    const setTitle = clientTool({ name: 'set_title', input: z.object({ title: z.string() }) });
    const look = defineTool({ name: 'look', input: z.object({}), execute: () => 'seen' });
    const agents = [
      defineAgent({ name: 'shop', model: 'typed:m', tools: [setTitle, look] }),
      defineAgent({ name: 'plain', model: 'typed:m', tools: [] }),
    ];
    front = await startLanefold({ agents, models: { typed: () => model } });
    back = await createLanefold(front.options);
    await back.startWorker();
    const handlerOf = (agent: string) =>
      createAgUiHandler(front, {
        agent,
        authorize:
          () =>
          ({ threadId }) => ({ threadId }),
      });
    runtime = new Runtime({ shop: handlerOf('shop'), plain: handlerOf('plain') });
  });
  afterAll(async () => {
    await runtime?.close();
    await back?.close();
    await front?.close();
  });

  const titles: string[] = [];
  const setTitle = (followUp = true): FrontendTool => ({
    name: 'set_title',
    description: 'Sets the title of the page.',
    parameters: z.object({ title: z.string() }) as never,
    handler: ({ title }) => Promise.resolve(void titles.push(title as string)),
    followUp,
  });

  /** A page with one chat; errors that the core reports are failures, unless the page has stopped an answer. */
  async function open(agentId: string, threadId: string, tools: FrontendTool[] = [setTitle()]) {
    // outside of a browser the core does not ask the runtime for its agents
    const agent = new ProxiedCopilotRuntimeAgent({
      runtimeUrl: await runtime.url(),
      agentId,
      threadId,
      transport: 'rest',
    });
    const core = new CopilotKitCore({ agents__unsafe_dev_only: { [agentId]: agent }, tools });
    const errors: string[] = [];
    core.subscribe({ onError: ({ error, code }) => void errors.push(`${code}: ${error.message}`) });
    const events: { type: string; name?: string; value?: unknown }[] = [];
    agent.subscribe({ onEvent: ({ event }) => void events.push(event as never) });
    let asked = 0;
    const ask = (text: string) => {
      agent.addMessage({ id: `${threadId}-${agentId}-q${++asked}`, role: 'user', content: text });
      return core.runAgent({ agent });
    };
    return { core, agent, errors, events, ask, ids: () => idsOf(agent.messages as never) };
  }
  type Page = Awaited<ReturnType<typeof open>>;
  /** The results that the core itself has given, by call. */
  const resultsOf = ({ agent }: Page) =>
    new Map(agent.messages.flatMap((m) => (m.role === 'tool' && !m.id.includes('#') ? [[m.toolCallId, m.id]] : [])));

  test('asks, runs the tools of the page, and has the same after a reconnect', async () => {
    const page = await open('shop', 'asks');
    const answered = page.ask('call it Ada');
    (await model.next()).stop(
      { id: 'a', name: 'look' },
      { id: 'b', name: 'set_title', args: { title: 'Ada' } },
      { id: 'c', name: 'set_title', args: { title: 'Ada!' } },
    );
    const keys = await model.next();
    keys.type('It is called Ada.');
    keys.stop();
    await answered;
    expect(page.errors).toEqual([]);
    expect(titles).toEqual(['Ada', 'Ada!']);
    expect(page.agent.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'It is called Ada.' });
    const results = resultsOf(page);
    expect(results.size).toBe(2);
    const logged = await loggedIds(front, 'asks', results);
    await page.core.connectAgent({ agent: page.agent });
    expect(page.ids()).toEqual(logged);
    await page.core.connectAgent({ agent: page.agent });
    expect(page.ids()).toEqual(logged);
    // a page that is loaded again, and one that asks before it has connected
    const loaded = await open('shop', 'asks');
    await loaded.core.connectAgent({ agent: loaded.agent });
    expect(loaded.ids()).toEqual(logged);
    const fresh = await open('plain', 'asks');
    const asked = fresh.ask('and who is Ada?');
    (await model.next()).stop();
    await asked;
    expect(fresh.ids()).toEqual(await loggedIds(front, 'asks', results));
    expect(titles).toHaveLength(2);
  });

  test('may ask again as soon as it has stopped an answer', async () => {
    const page = await open('shop', 'stops');
    const first = page.ask('tell me everything');
    const keys = await model.next();
    keys.type('Once');
    await until('it is shown', () => JSON.stringify(page.agent.messages).includes('Once'));
    page.core.stopAgent({ agent: page.agent });
    await first;
    await until('the runtime has stopped', () => runtime.stops > 0);
    page.errors.length = 0;
    const second = page.ask('in short, please');
    const again = await model.next();
    again.type('Yes.');
    again.stop();
    await second;
    expect(page.errors).toEqual([]);
    expect(page.agent.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'Yes.' });
    expect(page.ids()).toEqual(await loggedIds(front, 'stops', new Map()));
    const { data: runs } = await front.runs.list({ threadId: 'stops' });
    expect(runs.map(({ status }) => status).sort()).toEqual(['cancelled', 'completed']);
    await page.core.connectAgent({ agent: page.agent });
    expect(page.ids()).toEqual(await loggedIds(front, 'stops', new Map()));
  });

  test('may ask the next question with the result of a tool that needs no answer', async () => {
    const page = await open('shop', 'silent', [setTitle(false)]);
    const first = page.ask('call it Bob');
    (await model.next()).stop({ id: 'b', name: 'set_title', args: { title: 'Bob' } });
    await first;
    const second = page.ask('and now?');
    const keys = await until('the new question is asked', async () => {
      const next = await model.next();
      return JSON.stringify(next.call.prompt).includes('and now?') ? next : undefined;
    });
    expect(JSON.stringify(keys.call.prompt)).not.toContain('before this tool call had a result');
    keys.type('Done.');
    keys.stop();
    await second;
    expect(page.errors).toEqual([]);
    const results = resultsOf(page);
    expect(results.size).toBe(1);
    expect(page.ids()).toEqual(await loggedIds(front, 'silent', results));
  });

  test('uses an agent that lacks a tool of the page, and is told', async () => {
    const page = await open('plain', 'lacks', [setTitle(), { ...setTitle(), name: 'fly' }]);
    const asked = page.ask('hello');
    const keys = await model.next();
    expect(keys.call.tools ?? []).toEqual([]);
    keys.type('Hello.');
    keys.stop();
    await asked;
    expect(page.errors).toEqual([]);
    expect(page.agent.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'Hello.' });
    expect(page.events.filter(({ type }) => type === 'CUSTOM')).toMatchObject([
      { name: 'lanefold.tools_ignored', value: { agent: 'plain', tools: ['set_title', 'fly'] } },
    ]);
  });
});
