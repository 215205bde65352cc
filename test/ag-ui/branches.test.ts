// @module-tag slow
import { defineAgent } from 'lanefold';
import { createAgUiHandler, type AgUiGrant } from 'lanefold/ag-ui';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { fakeModel } from '../support/fake-model.ts';
import { startTwo, type TwoProcesses } from '../support/two-processes.ts';
import { typedModel, type TypedModel } from '../support/typed-model.ts';
import { until } from '../support/until.ts';
import { clientOf, noWarnings, user, type Client } from './client.ts';

interface Setting {
  agent?: string;
  busy?: 'interrupt' | 'wait';
  run?: NonNullable<AgUiGrant['run']>;
}

describe('a question that names the run it follows', () => {
  let two: TwoProcesses;
  let typed: TypedModel;
  let assertQuiet: () => void;
  beforeEach(() => void (assertQuiet = noWarnings()));
  afterEach(() => assertQuiet());
  beforeAll(async () => {
    typed = typedModel();
    const echo = fakeModel(({ prompt }) => ({ text: `${prompt.filter(({ role }) => role === 'user').length} asked` }));
    const broken = fakeModel(() => {
      throw new Error('broken');
    });
    two = await startTwo({
      agents: [
        defineAgent({ name: 'counter', model: 'echo:m' }),
        defineAgent({ name: 'typist', model: 'typed:m' }),
        defineAgent({ name: 'breaker', model: 'broken:m' }),
      ],
      models: { echo: () => echo, typed: () => typed, broken: () => broken },
    });
  });
  afterAll(() => two?.close());

  /** A client whose requests name a run; `HttpAgent` itself has no option for it. */
  const join = (threadId: string, { agent = 'counter', busy, run = {} }: Setting = {}) => {
    const handler = createAgUiHandler(two.front, {
      ...(busy ? { busy } : {}),
      authorize: () => ({ threadId, agent, run }),
    });
    const after: { run?: string | undefined } = {};
    const client = clientOf({
      url: 'https://shop.example/ag-ui',
      threadId,
      fetch: (to, init) => {
        const body = { ...JSON.parse(init!.body as string), ...(after.run && { parentRunId: after.run }) } as object;
        return handler(new Request(to, { ...init, body: JSON.stringify(body) }));
      },
    });
    return { ...client, after };
  };
  /** Asks with the messages of the run before, as a page that goes back to it has them. */
  const ask = async (client: ReturnType<typeof join>, id: string, parent?: string, kept?: number) => {
    client.after.run = parent;
    if (kept !== undefined) client.agent.setMessages(client.agent.messages.slice(0, kept));
    client.agent.addMessage(user(id, `Question ${id}`));
    await client.agent.runAgent({ runId: `r-${id}` });
  };
  const texts = ({ said }: Client) => said().map(({ content }) => content);
  const lanes = async (threadId: string) => (await two.front.threads.branches(threadId)).length;

  test('begins a branch after it, which is shown, once for each run id', async () => {
    const client = join('back');
    await ask(client, 'a');
    await ask(client, 'b', 'r-a');
    expect(await lanes('back')).toBe(1);
    await ask(client, 'c', 'r-a', 2);
    expect(texts(client)).toEqual(['Question a', '1 asked', 'Question c', '2 asked']);
    expect(client.types()).not.toContain('MESSAGES_SNAPSHOT');
    expect(await two.front.threads.branches('back')).toMatchObject([
      { contextRef: 'default', shown: false },
      { contextRef: 'default@2', shown: true, branchedAfterSeq: 1 },
    ]);
    // the same request again, also once another branch is shown
    for (const lane of ['default@2', 'default']) {
      await two.front.contexts.show('back', lane);
      const again = join('back');
      again.agent.setMessages(client.agent.messages.slice(0, 2));
      await ask(again, 'c', 'r-a');
      expect(texts(again)).toEqual(['Question a', '1 asked', 'Question c', '2 asked']);
    }
    expect(await lanes('back')).toBe(2);
    const other = join('back');
    other.after.run = 'r-a';
    other.agent.addMessage(user('c', 'Another question'));
    await expect(other.agent.runAgent({ runId: 'r-c' })).rejects.toThrow('idempotency_mismatch');

    // the newest run of the branch, by our name for it, and then the end of the lane that was left
    await two.front.contexts.show('back', 'default@2');
    const { data } = await two.front.runs.list({ threadId: 'back' });
    const ofC = data.find(({ contextRef }) => contextRef === 'default@2')!;
    await ask(client, 'd', ofC.id);
    expect(await lanes('back')).toBe(2);
    const late = join('back');
    await ask(late, 'e', 'r-b');
    expect(texts(late)).toEqual(['Question a', '1 asked', 'Question b', '2 asked', 'Question e', '3 asked']);
    expect(await lanes('back')).toBe(3);
  });

  test('is made once by two requests at once', async () => {
    const client = join('twice');
    await ask(client, 'a');
    await ask(client, 'b', 'r-a');
    const both = [join('twice'), join('twice')];
    await Promise.all(both.map((one) => ask(one, 'c', 'r-a')));
    for (const one of both) expect(texts(one)).toEqual(['Question a', '1 asked', 'Question c', '2 asked']);
    expect(await lanes('twice')).toBe(2);
  });

  test('of a run that failed, and whose context was restored, has the restored context', async () => {
    const client = join('failed');
    await ask(client, 'a');
    const failing = join('failed', { agent: 'breaker', run: { onFailure: 'rewind' } });
    await ask(failing, 'b', 'r-a').catch(() => {});
    await ask(client, 'c', 'r-b');
    expect(await lanes('failed')).toBe(1);
    await ask(join('failed'), 'd', 'r-b');
    expect(await lanes('failed')).toBe(2);
    const context = await two.front.contexts.project('failed');
    expect(context.map(({ content }) => content)).toEqual(['Question a', '1 asked', 'Question d', '2 asked']);
  });

  test.for(['wait', 'interrupt'] as const)('busy: %s: the client gets the answer on its branch', async (busy) => {
    const setting = { agent: 'typist', busy };
    const client = join(busy, setting);
    const answer = async (text: string) => {
      const keys = await typed.next();
      keys.type(text);
      keys.stop();
    };
    await Promise.all([ask(client, 'a'), answer('one')]);
    const active = ask(client, 'b', 'r-a');
    const keys = await typed.next();
    const pages = [join(busy, setting), join(busy, setting)] as const;
    const back = ask(pages[0], 'c', 'r-a');
    await until('the branch is there', async () => (await lanes(busy)) === 2);
    // a second tab, which sends the same while the branch may not be shown yet
    const again = ask(pages[1], 'c', 'r-a');
    if (busy === 'wait') {
      await expect(ask(join(busy, setting), 'd', 'r-c')).rejects.toThrow('run_active');
      keys.stop();
    }
    await Promise.all([active, answer('two'), back, again]);
    for (const page of pages) expect(texts(page)).toEqual(['Question a', 'one', 'Question c', 'two']);
    expect(await lanes(busy)).toBe(2);
  });

  test('of a run that the thread does not have is refused', async () => {
    const client = join('none');
    await expect(ask(client, 'a', 'r-none')).rejects.toThrow('run_not_found');
    await expect(two.front.threads.peek('none')).rejects.toMatchObject({ code: 'thread_not_found' });
    client.agent.setMessages([]);
    await ask(client, 'a');
    client.after.run = 'not an id';
    client.agent.addMessage(user('b', 'Question b'));
    await expect(client.agent.runAgent({ runId: 'r-b' })).rejects.toThrow('run_not_found');
    expect((await two.front.runs.list({ threadId: 'none' })).data).toHaveLength(1);
  });

  test('leaves the conversation of the thread as it is, if the application keeps to a lane', async () => {
    await two.front.threads.create({ id: 'own' });
    const client = join('own', { run: { contextRef: 'chat' } });
    await ask(client, 'a');
    await ask(client, 'b', 'r-a');
    await two.front.contexts.switch('own', 'default');
    await ask(client, 'c', 'r-a', 2);
    expect(texts(client)).toEqual(['Question a', '1 asked', 'Question c', '2 asked']);
    await ask(client, 'd', 'r-c');
    expect((await two.front.threads.peek('own')).activeContextRef).toBe('default');
    const context = await two.front.contexts.project('own', { contextRef: 'chat@2' });
    expect(context.map(({ content }) => content)).toContain('Question c');
  });
});
