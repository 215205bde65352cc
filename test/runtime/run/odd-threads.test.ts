// @module-tag slow
import { APICallError } from '@ai-sdk/provider';
import { defineAgent, defineTool, type Message } from 'lanefold';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  acceptable,
  dialectOf,
  saysNothing,
  dialects,
  type DialectName,
} from '../../../src/agent/models/acceptable-prompt.ts';
import { apis } from '../../support/sent-request.ts';
import { entriesOf, expectSound } from '../../support/log.ts';
import { onCitus } from '../../support/services.ts';
import { oddHistories } from '../../support/odd-histories.ts';
import { pairsOf } from '../../support/strict-apis.ts';
import { strictModel, type WrittenAnswer } from '../../support/strict-models.ts';
import { startRuntime, unset, type Runtime } from '../helpers.ts';

const look = defineTool({ name: 'look', input: z.object({ n: z.number() }), execute: ({ n }) => `Seen ${n}.` });
const odd: WrittenAnswer[] = [
  { text: 'I look.', calls: [{ id: 'toolu_1', name: 'look', arguments: { n: 1 } }] },
  {
    text: ' ',
    calls: [
      { id: 'toolu_1', name: 'look', arguments: { n: 2 } },
      { id: 'toolu_1', name: 'functions.run', arguments: { n: 3 } },
      { id: 'functions.look:0', name: 'multi tool use', arguments: { n: 4 } },
      { id: 'a'.repeat(60), name: 'n'.repeat(90), arguments: { n: 5 } },
      { id: '', name: '', arguments: { n: 6 } },
    ],
  },
  { text: '\n\u3000' },
];

const overloaded = () =>
  Promise.reject(new APICallError({ message: 'Overloaded', url: 'http://x', requestBodyValues: {}, statusCode: 529 }));

let lanefold: Runtime;
const models = Object.fromEntries(apis.map((api) => [api, strictModel(api, [])]));
const scripts = Object.fromEntries(apis.map((api) => [api, structuredClone(odd)]));
beforeAll(async () => {
  for (const api of apis) models[api] = strictModel(api, scripts[api]!);
  lanefold = await startRuntime(
    [
      defineAgent({ name: 'odd', model: unset, instructions: 'Help.', tools: [look], streaming: false }),
      defineAgent({ name: 'plain', model: unset, streaming: false }),
    ],
    {
      models: {
        strict: (id: string) => models[apis[Number(id)]!]!,
        loose: (id: string) => strictModel(apis[Number(id)]!, []),
        down: (id: string) => Object.assign(strictModel(apis[Number(id)]!, []), { doGenerate: overloaded }),
      },
    },
  );
});
afterAll(() => lanefold?.close());

const query = async <T>(sql: string, values: unknown[]): Promise<T[]> =>
  (await lanefold.database.pool.query(sql, values)).rows;

describe.each(apis)('a thread whose model of %s answers oddly', (api) => {
  let threadId: string;
  test('continues, with the log as the model wrote it', async () => {
    const model = `strict:${apis.indexOf(api)}`;
    const first = await lanefold.run({ agent: 'odd', model, input: 'Look.' });
    expect(first.run).toMatchObject({ status: 'completed', error: null });
    threadId = first.threadId;
    const second = await lanefold.run({ agent: 'odd', model, threadId, input: 'And now?' });
    expect(second.run).toMatchObject({ status: 'completed', result: 'Done.' });

    const answers = (await entriesOf(lanefold, threadId)).filter(({ role }) => role === 'assistant');
    expect(answers.slice(0, 3).map(({ payload }) => payload['content'])).toEqual(odd.map(({ text }) => text));
    for (const [i, { calls = [] }] of odd.entries()) {
      const logged = (answers[i]!.payload['tool_calls'] ?? []) as { id: string; name: string; arguments_raw: string }[];
      // the client of the provider or the worker gives it an id
      const written = calls.map((call) => [
        call.id || expect.stringMatching(/./),
        call.name,
        JSON.stringify(call.arguments),
      ]);
      expect(logged.map((call) => [call.id, call.name, call.arguments_raw])).toEqual(written);
    }
    await expectSound(lanefold, threadId);
  });

  test('shows what was sent: in the mark, in call_context, and in the hash', async () => {
    const answers = (await entriesOf(lanefold, threadId)).filter(({ role }) => role === 'assistant');
    const { requests } = models[api]!;
    expect(requests).toHaveLength(answers.length);
    expect(answers.map(({ refs }) => refs['sent_as'] === undefined)).toEqual([true, true, false, false]);
    expect(answers[3]!.refs['sent_as']).toMatchObject({ names: 4, left_out: 1, ids: expect.any(Number) });
    for (const [i, { refs }] of answers.entries()) {
      const callId = refs['llm_call_id'] as string;
      const [row] = await query<{ verified: boolean }>('select lanefold.verify_call($1, $2) as verified', [
        threadId,
        callId,
      ]);
      expect(row).toEqual({ verified: true });
      const { messages, verified } = await lanefold.contexts.call(threadId, callId);
      expect(verified).toBe(true);
      const sent = messages.flatMap(({ tool_calls: calls }) => calls ?? []);
      for (const call of sent) expect(JSON.stringify(requests[i])).toContain(JSON.stringify(call.name));
      for (const call of sent) expect(JSON.stringify(requests[i])).toContain(JSON.stringify(call.id));
      expect(pairsOf(api, requests[i]!).map(([args]) => args)).toEqual(sent.map((call) => call.arguments));
    }
  });

  test('is shown beforehand as it would be sent', async () => {
    const { messages } = await lanefold.contexts.project(threadId, {
      model: `strict:${apis.indexOf(api)}`,
      agent: 'odd',
      explain: true,
    });
    await lanefold.run({ agent: 'odd', model: `strict:${apis.indexOf(api)}`, threadId, input: 'Next?' });
    const calls = await entriesOf(lanefold, threadId);
    const { messages: sent } = await lanefold.contexts.call(threadId, calls.at(-1)!.refs['llm_call_id'] as string);
    expect(messages.map(({ role, content, tool_call_id: id }) => [role, content, id ?? undefined])).toEqual(
      sent.slice(0, -1).map(({ role, content, tool_call_id: id }) => [role, content, id]),
    );
  });

  test('can be replayed, also by the model of another provider', async () => {
    const calls = await entriesOf(lanefold, threadId);
    const callId = calls.at(-1)!.refs['llm_call_id'] as string;
    for (const other of apis) {
      const replay = await lanefold.contexts.replayCall(threadId, callId, { model: `loose:${apis.indexOf(other)}` });
      expect(replay).toMatchObject({ error: null, answer: { content: 'Done.' } });
    }
  });

  test('is accepted by every provider', async () => {
    for (const other of apis) {
      const { run } = await lanefold.run({
        agent: 'odd',
        model: `loose:${apis.indexOf(other)}`,
        threadId,
        input: 'Continue.',
      });
      expect(run).toMatchObject({ status: 'completed', result: 'Done.' });
    }
    await expectSound(lanefold, threadId);
  });

  test('is accepted by a model that stands in for those of other providers, in a form of its own', async () => {
    for (const [n, other] of apis.entries()) {
      const down = apis.filter((name) => name !== other).map((name) => `down:${apis.indexOf(name)}`);
      const model: [string, ...string[]] = [down[0]!, ...down.slice(1), `loose:${n}`];
      const { run } = await lanefold.run({ agent: 'odd', model, threadId, input: 'Continue.' });
      expect(run).toMatchObject({ status: 'completed', result: 'Done.' });
      const { refs } = (await entriesOf(lanefold, threadId)).at(-1)!;
      expect(refs).toMatchObject({ model: `loose:${n}`, sent_as: { for: dialectOf(models[other]!).name } });
      const { verified } = await lanefold.contexts.call(threadId, refs['llm_call_id'] as string);
      expect(verified).toBe(true);
    }
    await expectSound(lanefold, threadId);
  });

  test('is accepted as a fork and as an import', async () => {
    const copies = [(await lanefold.threads.fork(threadId)).id];
    // a distributed database has no imports
    if (!onCitus) {
      const lines: string[] = [];
      for await (const line of lanefold.threads.export(threadId)) lines.push(line);
      const id = `imported-${apis.indexOf(api)}`;
      copies.push((await lanefold.threads.import({ format: 'lanefold', lines }, { id })).id);
    }
    for (const id of copies) {
      const { run } = await lanefold.run({
        agent: 'odd',
        model: `loose:${apis.indexOf(api)}`,
        threadId: id,
        input: 'Continue.',
      });
      expect(run).toMatchObject({ status: 'completed', result: 'Done.' });
    }
  });
});

describe('whatever providers wrote, a history is accepted by all of them', () => {
  const isSaid = (message: Message) =>
    message.role !== 'user' ||
    !(
      typeof message.content === 'string' ? [message] : message.content.length ? message.content : [{ content: '' }]
    ).some((part) => saysNothing('type' in part ? [part] : (part.content as string)));
  // a caller may not write blank messages, and no call without an id
  const histories = fc
    .sample(oddHistories, 60)
    .filter((messages) => messages.every(({ tool_calls: calls }) => calls?.every(({ id }) => id) ?? true))
    .slice(0, 4)
    .map((messages) => messages.filter((own) => own.role !== 'system' && isSaid(own)));
  const asItems = (message: Message) => [
    ...(message.role === 'tool'
      ? [{ type: 'function_call_output', call_id: message.tool_call_id, output: 'Seen.' }]
      : [
          {
            type: 'message',
            role: message.role,
            content: typeof message.content === 'string' ? message.content : 'A file.',
          },
        ]),
    ...(message.tool_calls ?? []).map(({ id, name }) => ({
      type: 'function_call',
      call_id: id,
      name,
      arguments: '{"n":1}',
    })),
  ];
  const asUiMessages = (messages: Message[]) =>
    messages
      .filter(({ role }) => role !== 'tool')
      .map(({ role, content, tool_calls: calls = [] }, i) => ({
        id: `m${i}`,
        role,
        parts: [
          { type: 'text', text: typeof content === 'string' ? content : 'A file.' },
          ...calls.map(({ id, name }) => ({
            type: 'dynamic-tool',
            toolName: name,
            toolCallId: id,
            state: 'output-available',
            input: { n: 1 },
            output: 'Seen.',
          })),
        ],
      }));
  const ways: [string, (messages: Message[]) => Promise<{ id: string }>][] = [
    [
      'appended',
      async (messages) => {
        const thread = await lanefold.threads.create({});
        await lanefold.threads.append(
          thread.id,
          messages.map((message) => ({ message: message as never })),
        );
        return thread;
      },
    ],
    [
      'as a new context',
      async (entries) => {
        const thread = await lanefold.threads.create({});
        await lanefold.contexts.replace(thread.id, { entries: entries as never });
        return thread;
      },
    ],
    [
      'imported from OpenAI',
      (messages) => lanefold.threads.import({ format: 'openai', items: messages.flatMap(asItems) }),
    ],
    [
      'imported from the AI SDK',
      (messages) => lanefold.threads.import({ format: 'ai-sdk', messages: asUiMessages(messages) }),
    ],
  ];
  test.each(ways.filter(([name]) => !onCitus || !name.startsWith('imported')))('%s', async (_, enter) => {
    for (const messages of histories) {
      const { id } = await enter(messages);
      for (const api of apis) {
        const { run } = await lanefold.run({
          agent: 'plain',
          model: `loose:${apis.indexOf(api)}`,
          threadId: id,
          input: 'Continue.',
        });
        expect(run).toMatchObject({ status: 'completed', error: null });
        const [row] = await query<{ verified: boolean }>('select lanefold.verify_call($1, $2) as verified', [
          id,
          `${run.id}.1`,
        ]);
        expect(row).toEqual({ verified: true });
      }
    }
  });
});

test('the database makes the same of a history as the worker', async () => {
  const histories = fc.sample(oddHistories, 60);
  for (const name of Object.keys(dialects).filter((own) => own !== 'verbatim') as DialectName[]) {
    const rows = await query<{ sent: Message[] }>(
      `select lanefold._acceptable(h, $2) as sent from jsonb_array_elements($1::jsonb) with ordinality as x (h, n) order by n`,
      [JSON.stringify(histories), name],
    );
    for (const [i, { sent }] of rows.entries()) {
      const expected = acceptable(histories[i]!, dialects[name]).messages;
      expect(sent.map((message) => ({ ...message, seq: undefined }))).toEqual(
        expected.map((message) => ({ ...message, seq: undefined })),
      );
    }
  }
});
