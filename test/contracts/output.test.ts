// @module-tag slow
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { defineAgent, type EnqueueOptions, type OutputContract } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { FakeScript } from '../support/fake-model.ts';
import { contextOf, entriesOf, eventsOf, expectSound } from '../support/log.ts';
import { startModelServer, type ModelServer } from '../support/openai-server.ts';
import { deferred } from '../support/until.ts';
import { startRuntime, unset, type Runtime } from '../runtime/helpers.ts';

const city = z.object({ city: z.string(), people: z.number() });
const contract: OutputContract = { schema: city };
const fits = '{"city": "Oslo", "people": 700000}';
const oslo = { city: 'Oslo', people: 700_000 };

describe('an output contract', () => {
  let lanefold: Runtime;
  let server: ModelServer;
  beforeAll(async () => {
    server = await startModelServer();
    const http = createOpenAICompatible({ name: 'http', baseURL: server.url, supportsStructuredOutputs: true });
    lanefold = await startRuntime(
      [
        defineAgent({ name: 'text', model: unset, instructions: 'Be brief.', maxIterations: 2 }),
        defineAgent({ name: 'cities', model: unset, output: { ...contract, mode: 'error' } }),
        defineAgent({
          name: 'stuck',
          model: unset,
          toolTimeoutMs: 50,
          output: { schema: city, maxRepairs: 1, repair: () => new Promise<never>(() => {}) },
        }),
        defineAgent({
          name: 'generated',
          model: unset,
          // as the AI SDK's generateObject answers
          output: { schema: city, repair: () => ({ object: { city: 'Oslo', people: 7 }, finishReason: 'stop' }) },
        }),
        defineAgent({
          name: 'by-hand',
          model: unset,
          output: {
            schema: city,
            maxRepairs: 2,
            repair({ question, answer, error, attempt }) {
              if (attempt === 1) throw new Error('not yet');
              return { city: `${question}|${answer}|${error}`, people: attempt };
            },
          },
        }),
      ],
      { models: { http: http('m') } },
    );
  });
  afterAll(async () => {
    await lanefold?.close();
    await server?.close();
  });

  const run = (script: FakeScript, more: Partial<EnqueueOptions> = {}) => {
    const model = lanefold.model(script);
    const options = { agent: 'text', model: model.id, input: 'Which city?', output: contract, ...more };
    return lanefold.run(options).then((ended) => ({ ...ended, model }));
  };
  const outputEvents = async (threadId: string) =>
    (await eventsOf(lanefold, threadId))
      .filter((event) => event.kind.startsWith('output_'))
      .map((event) => [event.kind, event.data['status'], event.data['attempt']]);

  test('makes the parsed answer the result and keeps the text in the log', async () => {
    const { threadId, run: ended, model } = await run([{ text: `\n\`\`\`json\n${fits}\n\`\`\`` }]);
    expect(ended).toMatchObject({ status: 'completed', terminationReason: 'final_answer', result: oslo, step: 1 });
    expect(await contextOf(lanefold, threadId)).toEqual([
      ['system', 'Be brief.'],
      ['user', 'Which city?'],
      ['assistant', `\n\`\`\`json\n${fits}\n\`\`\``],
    ]);
    expect(model.calls).toHaveLength(1);
    expect(await outputEvents(threadId)).toEqual([
      ['output_started', 'started', 0],
      ['output_validated', 'validated', 0],
    ]);
    const completed = (await eventsOf(lanefold, threadId)).find((event) => event.kind === 'request_completed')!;
    expect(completed.data).toMatchObject({ result: oslo, output: { status: 'validated', attempt: 0, retries: 1 } });
    await expectSound(lanefold, threadId);
  });

  test('is appended to the system prompt of every model call and never stored', async () => {
    const { threadId, model } = await run([{ finishReason: 'tool-calls' }, { text: fits }]);
    for (const { prompt } of model.calls) {
      expect(prompt.filter((message) => message.role === 'system')).toHaveLength(1);
      expect(prompt[0]!.content).toMatch(
        /^Be brief\.\n\nGive your final answer as a single JSON object[^]*"properties"/,
      );
    }
    const answers = (await entriesOf(lanefold, threadId)).filter((entry) => entry.role === 'assistant');
    const hash = expect.stringMatching(/^[0-9a-f]{64}$/);
    expect(answers.map((entry) => entry.refs)).toMatchObject([{ output_hash: hash }, { output_hash: hash }]);
    expect(JSON.stringify(await entriesOf(lanefold, threadId))).not.toContain('single JSON object');
    const bare = await run([{ text: '{"city": "Oslo", "people": 1}' }], { agent: 'cities' });
    expect(bare.model.calls[0]!.prompt.map((message) => message.role)).toEqual(['system', 'user']);
  });

  test('repairs the whole of a long answer without tools or streaming, and counts the tokens of the repair', async () => {
    const long = `It is Oslo. ${'Really. '.repeat(200)}The end.`;
    server.reply({ text: long, usage: [10, 5] }, { text: fits, usage: [20, 7] });
    const handle = await lanefold.run({
      agent: 'text',
      model: 'http',
      input: [{ type: 'text', text: 'Which city?' }],
      output: { ...contract, name: 'city', description: 'A city.' },
    });
    expect(handle.run).toMatchObject({ status: 'completed', result: oslo, iteration: 1 });
    expect(handle.run.usage).toMatchObject({ input_tokens: 30, output_tokens: 12, total_tokens: 42 });
    const { body } = server.requests.at(-1)!;
    expect(body).not.toHaveProperty('stream');
    expect(body).not.toHaveProperty('tools');
    expect(body.response_format).toMatchObject({
      type: 'json_schema',
      json_schema: { name: 'city', description: 'A city.' },
    });
    expect(JSON.stringify(body.messages)).toContain(long);
    expect(JSON.stringify(body.messages)).toContain('Which city?');
    expect(JSON.stringify(body.messages)).toContain('The answer is not JSON');
    const { threadId } = handle;
    expect(await outputEvents(threadId)).toEqual([
      ['output_started', 'started', 0],
      ['output_repair', 'repair', 1],
      ['output_validated', 'validated', 1],
    ]);
    const events = await eventsOf(lanefold, threadId);
    expect(events.filter((event) => event.kind === 'llm_started')).toHaveLength(1);
    expect(events.at(-2)!.data).toMatchObject({ output: { status: 'repaired', attempt: 1 } });
    expect((await contextOf(lanefold, threadId)).map(([role]) => role)).toEqual(['system', 'user', 'assistant']);
    await expectSound(lanefold, threadId);
  });

  test('fails the run when no repairs are left, or immediately in mode error', async () => {
    const twice = await run([{ text: 'Oslo' }, { text: '{"city": 1}' }, { text: '[1]' }], {
      output: { ...contract, maxRepairs: 2 },
    });
    expect(twice.run).toMatchObject({
      status: 'failed',
      terminationReason: 'error',
      error: { type: 'output_validation' },
    });
    expect(twice.run.error!.message).toContain('an array');
    expect(twice.model.calls).toHaveLength(3);
    expect(await outputEvents(twice.threadId)).toEqual([
      ['output_started', 'started', 0],
      ['output_repair', 'repair', 1],
      ['output_repair', 'repair', 2],
      ['output_failed', 'error', 2],
    ]);
    const atOnce: Partial<EnqueueOptions>[] = [
      { agent: 'cities', output: undefined as never },
      { output: { ...contract, mode: 'error' } },
      { output: { ...contract, maxRepairs: 0 } },
    ];
    for (const more of atOnce) {
      const once = await run([{ text: '{"city": "Oslo"}' }], more);
      const error = { type: 'output_validation', message: expect.stringContaining('people') };
      expect(once.run).toMatchObject({ status: 'failed', error });
      expect(once.model.calls).toHaveLength(1);
      expect(await outputEvents(once.threadId)).toEqual([
        ['output_started', 'started', 0],
        ['output_failed', 'error', 0],
      ]);
      expect((await contextOf(lanefold, once.threadId)).at(-1)).toEqual(['assistant', '{"city": "Oslo"}']);
      await expectSound(lanefold, once.threadId);
    }
  });

  test('makes no more than three repairs', async () => {
    const { model } = await run([{ text: 'no' }], { output: { ...contract, maxRepairs: 50 } });
    expect(model.calls).toHaveLength(4);
  });

  test('limits a repair function to the tool timeout', async () => {
    const { run: ended } = await lanefold.run({
      agent: 'stuck',
      model: lanefold.model([{ text: 'no' }]).id,
      input: '?',
    });
    expect(ended).toMatchObject({
      status: 'failed',
      error: { type: 'output_validation', message: expect.stringContaining('did not answer within 50 ms') },
    });
  });

  test('at a limit there is no answer to repair: the run completes without a result', async () => {
    for (const mode of ['repair', 'error'] as const) {
      const { run: ended, model } = await run([{ finishReason: 'tool-calls' }, { text: fits }], {
        maxIterations: 1,
        output: { ...contract, mode },
      });
      expect(ended).toMatchObject({ status: 'completed', terminationReason: 'max_iterations', result: null });
      expect(model.calls).toHaveLength(1);
    }
  });

  test('of an agent is disabled by "raw" and replaced by the contract of a request', async () => {
    for (const output of ['raw', { mode: 'raw' }] as const) {
      const raw = await run([{ text: 'Oslo' }], { agent: 'cities', output });
      expect(raw.run).toMatchObject({ status: 'completed', result: 'Oslo' });
      expect(raw.model.calls[0]!.prompt).toHaveLength(1);
    }
    const schema = {
      type: 'object' as const,
      properties: { name: { type: 'string' as const, maxLength: 3 } },
      required: ['name'],
    };
    const other = await run([{ text: '{"name": "Ann"}' }], { agent: 'cities', output: { schema } });
    expect(other.run.result).toEqual({ name: 'Ann' });
    const wrong = await run([{ text: '{"name": "Anna"}' }], { output: { schema, mode: 'error' } });
    expect(wrong.run.error).toMatchObject({ type: 'output_validation', message: expect.stringContaining('name') });
  });

  test('of an agent may coerce and refine, as its schema does', async () => {
    const schema = z.object({ people: z.coerce.number().refine((n) => n % 2 === 0, 'People come in pairs.') });
    const own = await startRuntime([defineAgent({ name: 'a', model: unset, output: { schema, mode: 'error' } })]);
    try {
      const ask = async (text: string) =>
        (await own.run({ agent: 'a', model: own.model([{ text }]).id, input: 'x' })).run;
      expect((await ask('{"people": "12"}')).result).toEqual({ people: 12 });
      expect((await ask('{"people": "13"}')).error!.message).toContain('People come in pairs.');
    } finally {
      await own.close();
    }
  });

  test('accepts the object in the result of the agent’s repair function', async () => {
    const model = lanefold.model([{ text: 'no' }]);
    const { run: ended } = await lanefold.run({ agent: 'generated', model: model.id, input: 'Which?' });
    expect(ended).toMatchObject({ status: 'completed', result: { city: 'Oslo', people: 7 } });
  });

  test('accepts the result of the agent’s repair function', async () => {
    const model = lanefold.model([{ text: 'Bergen' }]);
    const { run: ended } = await lanefold.run({ agent: 'by-hand', model: model.id, input: 'Which?' });
    expect(ended.result).toEqual({ city: 'Which?|Bergen|not yet', people: 2 });
    expect(model.calls).toHaveLength(1);
  });

  test('retries a repair while the provider is busy, and fails with its error in the end', async () => {
    server.reply({ text: 'Oslo' }, { status: 429, headers: { 'retry-after-ms': '1' } }, { text: fits });
    const repaired = await lanefold.run({ agent: 'text', model: 'http', input: 'x', output: contract });
    expect(repaired.run.result).toEqual(oslo);
    const kinds = (await eventsOf(lanefold, repaired.threadId)).map((event) => event.kind);
    expect(kinds.slice(4, 8)).toEqual(['output_started', 'output_repair', 'llm_retry', 'output_validated']);
    server.reply({ text: 'Oslo' }, { status: 400 });
    const refused = await lanefold.run({ agent: 'text', model: 'http', input: 'x', output: contract });
    expect(refused.run).toMatchObject({ status: 'failed', error: { type: 'llm_request' } });
    expect((await outputEvents(refused.threadId)).at(-1)).toEqual(['output_failed', 'error', 1]);
  });

  test('yields to input that arrives during the answer, and accepts no input during a repair', async () => {
    const asked = [deferred(), deferred()];
    const answer = [deferred(), deferred()];
    const model = lanefold.model(async (_, n) => {
      if (n === 1) return { text: 'Bergen' };
      const turn = n === 0 ? 0 : 1;
      asked[turn]!.resolve();
      await answer[turn]!.promise;
      return { text: turn === 0 ? 'Oslo' : fits };
    });
    const handle = await lanefold.runs.enqueue({ agent: 'text', model: model.id, input: 'Which?', output: contract });
    await asked[0]!.promise;
    expect(await lanefold.runs.steer(handle.threadId, 'Another one.')).toMatchObject({ status: 'queued' });
    answer[0]!.resolve();
    await asked[1]!.promise;
    await expect(lanefold.runs.steer(handle.threadId, 'too late')).rejects.toMatchObject({ code: 'run_ending' });
    answer[1]!.resolve();
    expect(await lanefold.runs.wait(handle)).toMatchObject({ status: 'completed', result: oslo, iteration: 2 });
    expect((await contextOf(lanefold, handle.threadId)).slice(1)).toEqual([
      ['user', 'Which?'],
      ['assistant', 'Oslo'],
      ['user', 'Another one.'],
      ['assistant', 'Bergen'],
    ]);
    const kinds = (await eventsOf(lanefold, handle.threadId)).map((event) => event.kind);
    expect(kinds.filter((kind) => kind === 'output_started')).toHaveLength(1);
    expect(kinds.indexOf('output_started')).toBeGreaterThan(kinds.indexOf('input_injected'));
    await expectSound(lanefold, handle.threadId);
  });

  test('lets a cancel win over a repair and keeps the answer', async () => {
    const repairing = deferred();
    const model = lanefold.model(async (call, n) => {
      if (n === 0) return { text: 'Oslo' };
      repairing.resolve();
      return new Promise((_, reject) => call.abortSignal!.addEventListener('abort', () => reject(new Error('gone'))));
    });
    const handle = await lanefold.runs.enqueue({ agent: 'text', model: model.id, input: 'Which?', output: contract });
    await repairing.promise;
    await lanefold.runs.cancel(handle);
    expect(await lanefold.runs.wait(handle)).toMatchObject({ status: 'cancelled', result: null });
    expect((await contextOf(lanefold, handle.threadId)).at(-1)).toEqual(['assistant', 'Oslo']);
    await expectSound(lanefold, handle.threadId);
  });

  test('works with on_failure: rewind', async () => {
    const { threadId, run: ended } = await run([{ text: 'no' }], {
      output: { ...contract, mode: 'error' },
      onFailure: 'rewind',
    });
    expect(ended.status).toBe('failed');
    expect(await contextOf(lanefold, threadId)).toEqual([['system', 'Be brief.']]);
  });

  test('sends repairs through the request transformer', async () => {
    const seen: number[] = [];
    const own = await startRuntime([
      defineAgent({
        name: 'a',
        model: unset,
        output: contract,
        requestTransformer: ({ messages, tools }) => {
          seen.push(messages.length + tools.length);
          return seen.length < 3 ? { settings: { temperature: 0.25 } } : { tools: ['none'] };
        },
      }),
    ]);
    try {
      const model = own.model([{ text: 'no' }, { text: fits }, { text: 'no' }]);
      expect((await own.run({ agent: 'a', model: model.id, input: 'x' })).run.result).toEqual(oslo);
      expect(seen).toEqual([1, 2]);
      expect(model.calls.map((call) => call.temperature)).toEqual([0.25, 0.25]);
      seen.pop();
      const failed = await own.run({ agent: 'a', model: model.id, input: 'x' });
      expect(failed.run).toMatchObject({ status: 'failed', error: { type: 'request_transform' } });
      const last = (await eventsOf(own, failed.threadId)).filter((event) => event.kind.startsWith('output_')).at(-1);
      expect(last!.kind).toBe('output_failed');
    } finally {
      await own.close();
    }
  });

  test.each<[unknown, RegExp]>([
    [{ schema: z.string() }, /object with properties/],
    [{ schema: { type: 'object' } }, /object with properties/],
    [{ schema: { type: 'array', items: {} } }, /object with properties/],
    [{ schema: { type: 'object', properties: { a: { type: 'nonsense' } } } }, /cannot be used to validate/],
    [{ schema: city, mode: 'maybe' }, /mode/],
    [{ schema: city, maxRepairs: -1 }, /maxRepairs/],
    [{ schema: city, name: 'two words' }, /name/],
    [{ schema: city, repair: () => ({}) }, /repair function/],
    [{}, /schema/],
  ])('that is invalid is rejected with the request: %j', async (output, message) => {
    const options = {
      agent: 'text',
      input: 'x',
      threadId: 'no-contract',
      createThread: true,
      output,
    } as EnqueueOptions;
    await expect(lanefold.runs.enqueue(options)).rejects.toMatchObject({
      code: 'invalid_output',
      message: expect.stringMatching(message),
    });
    await expect(lanefold.threads.get('no-contract')).rejects.toMatchObject({ code: 'thread_not_found' });
  });

  test('that is invalid is rejected with its agent', async () => {
    await expect(
      startRuntime([defineAgent({ name: 'a', model: unset, output: { schema: z.array(city) } })]),
    ).rejects.toMatchObject({
      code: 'invalid_output',
    });
  });
});
