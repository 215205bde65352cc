import { contextHash, defineAgent, defineTool, type RequestTransformer } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { contextOf, entriesOf, expectSound } from '../support/log.ts';
import { startRuntime, unset, type Runtime } from '../runtime/helpers.ts';

const ran: string[] = [];
const tool = (name: string) =>
  defineTool({ name, input: z.object({}), execute: () => (ran.push(name), `${name} done`) });

describe('a request transformer', () => {
  let lanefold: Runtime;
  /** What the transformer `test` does in the current test. */
  let transform: RequestTransformer = () => undefined;
  beforeAll(async () => {
    lanefold = await startRuntime(
      [
        defineAgent({ name: 'plain', model: unset, instructions: 'Help.', tools: [tool('one'), tool('two')] }),
        defineAgent({
          name: 'own',
          model: unset,
          settings: { temperature: 0.5, topP: 0.5 },
          requestTransformer: () => ({ settings: { temperature: 0.1 } }),
          requestTransformers: { mine: () => ({ settings: { temperature: 0.9 } }) },
        }),
      ],
      { requestTransformers: { test: (request, context) => transform(request, context) } },
    );
  });
  afterAll(() => lanefold?.close());

  const run = (model: { id: string }, more = {}) =>
    lanefold.run({ agent: 'plain', model: model.id, input: 'hi', requestTransformer: 'test', ...more });

  test('sees every model call and changes what is sent; the log keeps the original messages and the hash of what was sent', async () => {
    const seen: unknown[] = [];
    transform = ({ messages, ...request }, { iteration, agent, context }) => {
      seen.push({ ...request, roles: messages.map((message) => message.role), iteration, agent, context });
      messages.at(-1)!.content = 'changed in place, to no effect';
      return {
        messages: [
          { role: 'system', content: 'Only this.' },
          { role: 'user', content: 'Instead.' },
        ],
      };
    };
    const model = lanefold.model([{ calls: [{ name: 'one' }] }, { text: 'done' }]);
    const { threadId } = await run(model, { toolContext: { k: 1 } });
    expect(seen).toEqual([
      {
        model: model.id,
        settings: {},
        tools: ['one', 'two'],
        roles: ['system', 'user'],
        iteration: 1,
        agent: 'plain',
        context: { k: 1 },
      },
      expect.objectContaining({ roles: ['system', 'user', 'assistant', 'tool'], iteration: 2 }),
    ]);
    for (const call of model.calls) {
      expect(call.prompt).toEqual([
        { role: 'system', content: 'Only this.' },
        { role: 'user', content: [{ type: 'text', text: 'Instead.' }] },
      ]);
    }
    expect((await contextOf(lanefold, threadId)).map(([, content]) => content)).toEqual([
      'Help.',
      'hi',
      '',
      'one done',
      'done',
    ]);
    const sent = contextHash([
      { role: 'system', content: 'Only this.' },
      { role: 'user', content: 'Instead.' },
    ]);
    const answers = (await entriesOf(lanefold, threadId)).filter((entry) => entry.role === 'assistant');
    expect(answers.map((entry) => [entry.refs['transformed'], entry.refs['context_hash']])).toEqual([
      [true, sent],
      [true, sent],
    ]);
    await expectSound(lanefold, threadId);
  });

  test('that changes nothing leaves no mark', async () => {
    transform = () => ({ messages: null, model: null });
    const { threadId } = await run(lanefold.model([{ text: 'done' }]));
    const [answer] = (await entriesOf(lanefold, threadId)).filter((entry) => entry.role === 'assistant');
    expect(answer!.refs).not.toHaveProperty('transformed');
    await expectSound(lanefold, threadId);
  });

  test('chooses the model of a turn, which the log names', async () => {
    const other = lanefold.model([{ text: 'from the other' }]);
    transform = () => ({ model: other.id });
    const { threadId, id, run: ended } = await run(lanefold.model([{ text: 'never' }]));
    expect(ended.result).toBe('from the other');
    const completed = (await lanefold.runs.events({ threadId, id })).find((event) => event.kind === 'llm_completed');
    expect(completed!.data).toMatchObject({ model: other.id });
  });

  test('removes tools for a turn: they are neither offered nor executed', async () => {
    transform = (_, { iteration }) => (iteration === 1 ? { tools: ['one'] } : undefined);
    ran.length = 0;
    const model = lanefold.model([
      { calls: [{ name: 'one' }, { name: 'two' }] },
      { calls: [{ name: 'two' }] },
      { text: 'done' },
    ]);
    await run(model);
    expect(model.calls.map((call) => call.tools?.map((sent) => sent.name))).toEqual([
      ['one'],
      ['one', 'two'],
      ['one', 'two'],
    ]);
    expect(ran).toEqual(['one', 'two']);
  });

  test('of the request replaces the agent’s, and its settings win over all others', async () => {
    const temperature = async (more = {}) => {
      const model = lanefold.model([{ text: 'x' }]);
      await lanefold.run({ agent: 'own', model: model.id, input: 'x', ...more });
      return [model.calls[0]!.temperature, model.calls[0]!.topP];
    };
    expect(await temperature()).toEqual([0.1, 0.5]);
    expect(await temperature({ settings: { temperature: 0.3, topP: 0.4 } })).toEqual([0.1, 0.4]);
    expect(await temperature({ requestTransformer: 'mine' })).toEqual([0.9, 0.5]);
    await expect(
      lanefold.runs.enqueue({ agent: 'plain', input: 'x', requestTransformer: 'mine' }),
    ).rejects.toMatchObject({
      code: 'invalid_request_transformer',
    });
  });

  const open = { role: 'assistant' as const, content: '', tool_calls: [{ id: 'c', name: 'one', arguments: {} }] };
  test.each<[string, RequestTransformer]>([
    ['throws', () => Promise.reject(new Error('out of order'))],
    ['answers with nonsense', () => 7 as never],
    ['leaves a tool call open', () => ({ messages: [open] })],
    ['sends text that is no message', () => ({ messages: ['hi'] as never })],
    ['names a model that does not exist', () => ({ model: 'nobody:nothing' })],
    ['adds a tool', () => ({ tools: ['three'] })],
    ['sets what there is not', () => ({ settings: { colour: 'red' } as never })],
  ])('that %s fails the run before any call', async (_, broken) => {
    transform = broken;
    const model = lanefold.model([{ text: 'never' }]);
    const { threadId, run: ended } = await run(model);
    expect(ended).toMatchObject({ status: 'failed', error: { type: 'request_transform' } });
    expect(model.calls).toHaveLength(0);
    expect(await contextOf(lanefold, threadId)).toEqual([
      ['system', 'Help.'],
      ['user', 'hi'],
    ]);
    await expectSound(lanefold, threadId);
  });

  test('has the same time limit as a tool', async () => {
    transform = () => new Promise(() => {});
    const model = lanefold.model([{ text: 'never asked' }]);
    const { run: ended } = await run(model, { toolTimeoutMs: 50 });
    const error = { type: 'request_transform', message: expect.stringContaining('did not answer within 50 ms') };
    expect(ended).toMatchObject({ status: 'failed', error });
    expect(model.calls).toHaveLength(0);
  });

  test('that never returns ends with a cancel', async () => {
    let entered!: () => void;
    const inside = new Promise<void>((resolve) => (entered = resolve));
    transform = () => (entered(), new Promise(() => {}));
    const handle = await lanefold.runs.enqueue({ agent: 'plain', input: 'x', requestTransformer: 'test' });
    await inside;
    await lanefold.runs.cancel(handle);
    expect(await lanefold.runs.wait(handle)).toMatchObject({ status: 'cancelled' });
  });
});
