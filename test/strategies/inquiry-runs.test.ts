// @module-tag slow
import { defineAgent, defineTool, withEffects, type EnqueueOptions } from 'lanefold';
import { defineStrategy } from 'lanefold/strategy';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { FakeTurn } from '../support/fake-model.ts';
import { contextOf, entriesOf, eventsOf, expectSound, ledgerOf } from '../support/log.ts';
import { deferred, until } from '../support/until.ts';
import { startRuntime, unset, type Runtime } from '../runtime/helpers.ts';
import type { TotResult } from '../../src/agent/strategies/tot/result.ts';

const look = defineTool({
  name: 'look',
  input: z.object({ at: z.string() }),
  execute: ({ at }, ctx) =>
    withEffects(`seen ${at}`, [{ op: 'set_path', path: ['seen', at], value: Object.keys(ctx.state).length }]),
});

const choose = defineTool({
  name: 'choose',
  input: z.object({ what: z.string() }),
  execute: ({ what }, ctx) =>
    withEffects(`${what} after ${(ctx.state['choice'] as string | undefined) ?? 'nothing'}`, [
      { op: 'set_path', path: ['choice'], value: what },
    ]),
});

const pay = defineTool({
  name: 'pay',
  input: z.object({}),
  needsApproval: true,
  replay: 'never',
  execute: () => 'paid',
});

/** Asks three questions together, each with tools. */
const three = defineStrategy({
  name: 'three',
  tools: true,
  begin: () => ({
    memory: null,
    questions: ['A', 'B', 'C'].map((prompt) => ({ purpose: 'part', prompt, tools: true })),
  }),
  learn: (memory, answers) => {
    const text = answers.map((answer) => answer.text).join(' ');
    const nodes = answers.map(({ node }) => ({ node, status: 'answered', data: { note: node } }));
    return { memory, nodes, end: { reason: 'success', answer: text, result: text } };
  },
  best: (_, { reason }) => ({ reason, answer: null, result: null }),
});

const textOf = ({ prompt }: LanguageModelV4CallOptions): string =>
  JSON.stringify(prompt.filter(({ role }) => role === 'user'));
const thoughts = (...contents: string[]): FakeTurn => ({ text: JSON.stringify({ thoughts: contents }) });
const scores = (...values: number[]): FakeTurn => ({
  text: JSON.stringify({ scores: Object.fromEntries(values.map((value, i) => [`t${i + 1}`, value])) }),
});

/** A tree of two levels: A, B; A1, A2. */
function tree(call: LanguageModelV4CallOptions): FakeTurn {
  const text = textOf(call);
  const deeper = text.includes('<step>');
  if (!text.includes('Score each')) return deeper ? thoughts('A1', 'A2') : thoughts('A', 'B');
  return deeper ? scores(0.9, 0.3) : scores(0.8, 0.4);
}

describe('strategies that ask questions of their own', () => {
  let lanefold: Runtime;
  beforeAll(async () => {
    lanefold = await startRuntime([
      defineAgent({ name: 'searcher', model: unset, strategy: 'tot', strategyOptions: { maxDepth: 2 }, tools: [look] }),
      defineAgent({ name: 'plain', model: unset, instructions: 'Be brief.' }),
      defineAgent({ name: 'careful', model: unset, strategy: three, tools: [look, pay, choose] }),
    ]);
  });
  afterAll(() => lanefold?.close());

  const nodesOf = async (threadId: string) =>
    (
      await lanefold.database.pool.query(
        'select node, parent, depth, kind, status, score, content, call_id, usage from lanefold.run_node where thread_id = $1 order by node',
        [threadId],
      )
    ).rows;

  test('a tree is in SQL, its answer in the log, its result on the run', async () => {
    const model = lanefold.model(tree);
    const { threadId, id, run } = await lanefold.run({ agent: 'searcher', model: model.id, input: 'Q' });
    expect(run).toMatchObject({
      status: 'completed',
      terminationReason: 'max_depth',
      iteration: 4,
      usage: { total_tokens: 60 },
    });
    const result = run.result as unknown as TotResult;
    expect(result.best).toMatchObject({ content: 'A1', path_text: ['Q', 'A', 'A1'] });
    expect(await contextOf(lanefold, threadId)).toEqual([
      ['user', 'Q'],
      ['assistant', 'A1'],
    ]);
    const nodes = await nodesOf(threadId);
    expect(nodes.map(({ kind, status }) => `${kind} ${status}`)).toEqual([
      'generate answered',
      'evaluate answered',
      'thought expanded',
      'thought open',
      'generate answered',
      'evaluate answered',
      'thought best',
      'thought open',
    ]);
    expect(nodes[4]).toMatchObject({ parent: 3, call_id: `${id}.3`, usage: { total_tokens: 15 } });
    expect(nodes[6]).toMatchObject({ parent: 3, depth: 2, score: 0.9, content: 'A1' });
    const events = await eventsOf(lanefold, threadId);
    expect(events.map(({ kind }) => kind)).toEqual([
      'request_started',
      ...Array.from({ length: 4 }, () => ['llm_started', 'llm_completed']).flat(),
      'request_completed',
      'checkpoint',
    ]);
    expect(events[4]!.data).toMatchObject({ call_id: `${id}.2`, node: 2, purpose: 'evaluate' });
    await expectSound(lanefold, threadId);
  });

  test('tool rounds belong to their question: ledger, lane, effects in call order, and the model sees the results', async () => {
    const model = lanefold.model((call) => {
      const asked = call.prompt.some(({ role }) => role === 'tool');
      if (textOf(call).includes('Score each') || textOf(call).includes('<step>') || asked) return tree(call);
      return { calls: ['x', 'y'].map((at) => ({ id: at, name: 'look', args: { at } })) };
    });
    const { threadId, id, run } = await lanefold.run({ agent: 'searcher', model: model.id, input: 'Q' });
    expect(run).toMatchObject({ status: 'completed', iteration: 5 });
    expect((run.result as unknown as TotResult).diagnostics.tool_rounds).toEqual({ 1: 1 });
    expect((await ledgerOf(lanefold, threadId)).map((row) => [row.status, row.result])).toEqual([
      ['ok', 'seen x'],
      ['ok', 'seen y'],
    ]);
    const lane = await contextOf(lanefold, threadId, `${id}.1`);
    expect(lane.map(([role]) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'tool', 'assistant']);
    // both saw the state before their round
    expect((await lanefold.threads.get(threadId)).state).toEqual({ seen: { x: 0, y: 0 } });
    expect((await contextOf(lanefold, threadId)).map(([role]) => role)).toEqual(['user', 'assistant']);
    await expectSound(lanefold, threadId);
  });

  test('an approval in one branch discards no answer of another, whether it is final or calls tools itself', async () => {
    const asked: string[] = [];
    const allAsked = deferred();
    const model = lanefold.model(async (call) => {
      const question = /"text":"([ABC])"/.exec(textOf(call))![1]!;
      const again = call.prompt.some(({ role }) => role === 'tool');
      asked.push(question);
      if (asked.length === 3) allAsked.resolve();
      await allAsked.promise;
      if (again || question === 'B') return { text: `${question} done` };
      const look = { id: `look ${question}`, name: 'look', args: { at: question } };
      return { calls: [look, { id: `pay ${question}`, name: 'pay', args: {} }] };
    });
    const run = await lanefold.runs.enqueue({ agent: 'careful', model: model.id, input: 'Q' });
    const paid: string[] = [];
    for (let round = 1; round <= 2; round++) {
      const { approvals } = await until('the run waits for approval', async () => {
        const found = await lanefold.runs.get(run);
        return found.approvals[0]?.round === round ? found : undefined;
      });
      paid.push(approvals[0]!.id);
      await lanefold.runs.approve(run, `${round}.1`);
    }
    expect(await lanefold.runs.wait(run)).toMatchObject({
      status: 'completed',
      result: 'A done B done C done',
      iteration: 5,
      usage: { total_tokens: 75 },
    });
    expect(paid).toEqual(['pay A', 'pay C']);
    expect(asked.toSorted()).toEqual(['A', 'A', 'B', 'C', 'C']);
    expect((await ledgerOf(lanefold, run.threadId)).map((row) => row.result)).toEqual([
      'seen A',
      'paid',
      'seen C',
      'paid',
    ]);
    for (const node of [1, 3]) expect(await contextOf(lanefold, run.threadId, `${run.id}.${node}`)).toHaveLength(6);
    // a start is about the message that makes the call, and belongs to the iteration of its end
    const events = await eventsOf(lanefold, run.threadId);
    const [starts, ends] = ['tool_started', 'tool_completed'].map((kind) =>
      events.filter((event) => event.kind === kind),
    );
    const placed = starts!.map(({ data, iteration }) => [data['tool_call_id'], iteration]);
    expect(placed).toEqual(ends!.map(({ data, iteration }) => [data['tool_call_id'], iteration]));
    const entries = await entriesOf(lanefold, run.threadId);
    for (const { data } of starts!) {
      const { payload } = entries.find(({ seq }) => seq === data['seq'])!;
      expect(JSON.stringify(payload['tool_calls'])).toContain(data['tool_call_id']);
    }
    // what the strategy notes of an answer is added to its rounds
    const data = (await lanefold.runs.nodes(run)).map((node) => node.data);
    const rounds = [{ results: [{}, { content: 'paid' }] }];
    expect(data).toMatchObject([{ note: 1, rounds }, { note: 2 }, { note: 3, rounds }]);
    await expectSound(lanefold, run.threadId);
  });

  test.each(['ABC', 'CBA'])('tools run in the order of the questions, and so change the state: %s', async (order) => {
    const answers = new Map([...order].map((question) => [question, deferred()]));
    answers.get(order[0]!)!.resolve();
    const model = lanefold.model(async (call) => {
      const question = /"text":"([ABC])"/.exec(textOf(call))![1]!;
      if (call.prompt.some(({ role }) => role === 'tool')) return { text: `${question} done` };
      await answers.get(question)!.promise;
      answers.get(order[order.indexOf(question) + 1] ?? '')?.resolve();
      return { calls: [{ id: `choose ${question}`, name: 'choose', args: { what: question } }] };
    });
    const { threadId, id, run } = await lanefold.run({ agent: 'careful', model: model.id, input: 'Q' });
    expect(run).toMatchObject({ result: 'A done B done C done', iteration: 6, usage: { total_tokens: 90 } });
    expect((await lanefold.threads.get(threadId)).state).toEqual({ choice: 'C' });
    const results = (await ledgerOf(lanefold, threadId)).map((row) => row.result);
    expect(results).toEqual(['A after nothing', 'B after A', 'C after B']);
    for (const node of [1, 2, 3]) {
      const lane = await contextOf(lanefold, threadId, `${id}.${node}`);
      expect(lane.map(([role]) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'assistant']);
    }
    await expectSound(lanefold, threadId);
  });

  test('an answer that cannot be used is counted, and ends the run before another branch asks for approval', async () => {
    const asked = deferred();
    const model = lanefold.model(async (call) => {
      const question = /"text":"([ABC])"/.exec(textOf(call))![1]!;
      if (question === 'A') return { calls: [{ id: 'pay A', name: 'pay', args: {} }] };
      if (question === 'C') return { text: 'C done' };
      await asked.promise;
      return { text: '', finishReason: 'length' };
    });
    const handle = await lanefold.runs.enqueue({ agent: 'careful', model: model.id, input: 'Q' });
    await until('the other answers are stored', async () => (await lanefold.runs.nodes(handle)).length === 2);
    asked.resolve();
    const run = await until('the run ends or waits', async () => {
      const found = await lanefold.runs.get(handle);
      return found.status === 'failed' || found.status === 'suspended' ? found : undefined;
    });
    expect(run).toMatchObject({ status: 'failed', usage: { total_tokens: 45 } });
    const events = await eventsOf(lanefold, handle.threadId);
    expect(events.filter(({ kind }) => kind === 'llm_completed')).toHaveLength(3);
    await expectSound(lanefold, handle.threadId);
  });

  test('a tool that fails, and one that is not there, are errors the model reads', async () => {
    const model = lanefold.model((call) => {
      if (textOf(call).includes('Score each') || call.prompt.some(({ role }) => role === 'tool')) return tree(call);
      return {
        calls: [
          { id: 'x', name: 'look', args: { at: 7 } },
          { id: 'y', name: 'touch' },
        ],
      };
    });
    const options = { strategyOptions: { maxDepth: 1 } };
    const { threadId, id, run } = await lanefold.run({ agent: 'searcher', model: model.id, input: 'Q', ...options });
    expect(run.status).toBe('completed');
    const lane = await contextOf(lanefold, threadId, `${id}.1`);
    const results = lane
      .filter(([role]) => role === 'tool')
      .map(([, content]) => JSON.parse(content as string) as object);
    expect(results).toMatchObject([{ ok: false }, { ok: false, error: { type: 'unknown_tool' } }]);
    await expectSound(lanefold, threadId);
  });

  test('a cancelled run aborts all its calls', async () => {
    const asked = deferred();
    const aborted: string[] = [];
    const model = lanefold.model((call, n) => {
      call.abortSignal!.addEventListener('abort', () => aborted.push(`call ${n}`));
      if (n === 3) asked.resolve();
      return new Promise<FakeTurn>(() => {});
    });
    const strategyOptions = { branches: 4 };
    const run = await lanefold.runs.enqueue({
      agent: 'plain',
      strategy: 'got',
      model: model.id,
      input: 'Q',
      strategyOptions,
    });
    await asked.promise;
    await lanefold.runs.cancel(run);
    expect(await lanefold.runs.wait(run, { timeoutMs: 10_000 })).toMatchObject({ status: 'cancelled' });
    await until('every call is aborted', () => aborted.length === 4);
    await expectSound(lanefold, run.threadId);
  });

  test('too many tool rounds fail the run, and leave no open call', async () => {
    const model = lanefold.model([{ calls: [{ name: 'look', args: { at: 'x' } }] }]);
    const { threadId, run } = await lanefold.run({
      agent: 'searcher',
      model: model.id,
      input: 'Q',
      strategyOptions: { maxToolRoundTrips: 1 },
    });
    expect(run).toMatchObject({ status: 'failed', error: { type: 'max_tool_round_trips_reached' } });
    expect(run.result).toMatchObject({ best: null, candidates: [] });
    await expectSound(lanefold, threadId);
  });

  test('recorded thoughts are lanes whose contexts are what the model saw', async () => {
    const model = lanefold.model(tree);
    const options = { maxDepth: 1, recordThoughts: true };
    const { threadId, id } = await lanefold.run({
      agent: 'searcher',
      model: model.id,
      input: 'Q',
      strategyOptions: options,
    });
    const lane = await contextOf(lanefold, threadId, `${id}.2`);
    expect(lane.map(([role]) => role)).toEqual(['system', 'user', 'assistant']);
    expect(model.calls[1]!.prompt[0]).toEqual({ role: 'system', content: lane[0]![1] });
    // every recorded answer has the hash of its lane
    expect((await entriesOf(lanefold, threadId)).filter((entry) => entry.refs['context_hash'])).toHaveLength(2);
    await expectSound(lanefold, threadId);
  });

  test('the log proves what a question was sent, also under a policy with a prompt of its own', async () => {
    const model = lanefold.model(tree);
    const strategyOptions = { maxDepth: 1, recordThoughts: true };
    const contextPolicy = { systemPrompt: 'Be brief.' };
    const { threadId, run } = await lanefold.run({
      agent: 'searcher',
      model: model.id,
      input: 'Q',
      strategyOptions,
      contextPolicy,
    });
    expect(run.status).toBe('completed');
    const { rows } = await lanefold.database.pool.query<{ id: string; verified: boolean | null }>(
      `select refs ->> 'llm_call_id' as id, lanefold.verify_call(thread_id, refs ->> 'llm_call_id') as verified
       from lanefold.thread_entry where thread_id = $1 and refs ? 'llm_call_id' and context_ref <> 'default'`,
      [threadId],
    );
    expect(rows.length).toBeGreaterThan(1);
    for (const { id, verified } of rows) {
      expect(verified, id).toBe(true);
      const call = await lanefold.contexts.call(threadId, id);
      expect(call).toMatchObject({ verified: true, unverifiedBecause: null });
      expect(call.messages[0]).toMatchObject({ role: 'system', content: expect.stringContaining('JSON') as string });
    }
  });

  test('the log proves what a question after the lane was sent, and what a policy cut from both', async () => {
    const say = (text: string) => ({ agent: 'plain', threadId: 'long', createThread: true, input: text });
    const talk = lanefold.model([{ text: 'Yes. '.repeat(40) }]);
    for (const text of ['One. ', 'Two. ', 'Three. ']) await lanefold.run({ ...say(text.repeat(40)), model: talk.id });
    const model = lanefold.model((call) => {
      const rounds = call.prompt.filter(({ role }) => role === 'tool').length;
      return rounds === 2 ? { text: 'done' } : { calls: [{ id: `c${rounds}`, name: 'look', args: { at: 'x' } }] };
    });
    const { id, run } = await lanefold.run({
      ...say('Q'),
      agent: 'careful',
      model: model.id,
      strategyOptions: { history: true },
      contextPolicy: { maxInputTokens: 400 },
    });
    expect(run.status).toBe('completed');
    const { rows } = await lanefold.database.pool.query<{ id: string; verified: boolean; cut: unknown }>(
      `select refs ->> 'llm_call_id' as id, refs -> 'dropped_positions' as cut,
         lanefold.verify_call(thread_id, refs ->> 'llm_call_id') as verified
       from lanefold.thread_entry where thread_id = 'long' and run_id = $1 and refs ? 'llm_call_id'`,
      [id],
    );
    expect(rows).toHaveLength(9);
    for (const row of rows) {
      expect(row, row.id).toMatchObject({ verified: true, cut: expect.any(Array) as unknown });
      const { messages } = await lanefold.contexts.call('long', row.id);
      expect(messages[0]!.role).toBe('system');
      // a part of the lane was sent, not all of it
      const answers = messages.filter(({ content }) => content === 'Yes. '.repeat(40)).length;
      expect(answers).toBeGreaterThan(0);
      expect(answers).toBeLessThan(3);
    }
    await expectSound(lanefold, 'long');
  });

  test('answers that come together are stored together', async () => {
    const answer = deferred();
    let waiting = 0;
    const model = lanefold.model(async () => {
      waiting += 1;
      if (waiting === 8) answer.resolve();
      await answer.promise;
      return { text: 'Thought' };
    });
    const { threadId, run } = await lanefold.run({
      agent: 'plain',
      strategy: 'got',
      model: model.id,
      input: 'Q',
      strategyOptions: { branches: 8, generations: 1 },
    });
    expect(run).toMatchObject({ status: 'completed', iteration: 10 });
    expect((await nodesOf(threadId)).filter(({ kind }) => kind === 'generate')).toHaveLength(8);
    // one commit for each would be ten
    expect(run.step).toBeLessThan(7);
    await expectSound(lanefold, threadId);
  });

  test('a question stands alone, after the prompt of the lane; with history it follows the lane', async () => {
    const model = lanefold.model([{ text: 'Answer: 4' }]);
    const ask = (options: Partial<EnqueueOptions> = {}) =>
      lanefold.run({
        agent: 'plain',
        model: model.id,
        strategy: 'aot',
        input: 'And now?',
        threadId: 'talk',
        createThread: true,
        ...options,
      });
    await ask({ strategy: 'react', input: 'Hello.' });
    await ask();
    expect(model.calls[1]!.prompt.map(({ role }) => role)).toEqual(['system', 'user']);
    expect(model.calls[1]!.prompt[0]!.content).toMatch(/^Be brief\.\n\nSolve the problem/);
    const { run } = await ask({ strategyOptions: { history: true } });
    expect(model.calls[2]!.prompt.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'user',
      'assistant',
      'user',
    ]);
    expect(run).toMatchObject({ strategy: 'aot', terminationReason: 'success', result: { answer: '4' } });
    expect((await contextOf(lanefold, 'talk')).at(-1)).toEqual(['assistant', '4']);
    await expectSound(lanefold, 'talk');
  });

  test('steering is refused, with a code that says why', async () => {
    const called = deferred();
    const answer = deferred();
    const model = lanefold.model(async () => {
      called.resolve();
      await answer.promise;
      return { text: 'Answer: 4' };
    });
    const handle = await lanefold.runs.enqueue({ agent: 'plain', strategy: 'aot', model: model.id, input: 'Q' });
    await called.promise;
    await expect(lanefold.runs.steer(handle.threadId, 'faster')).rejects.toMatchObject({ code: 'not_steerable' });
    answer.resolve();
    expect((await lanefold.runs.wait(handle)).status).toBe('completed');
  });

  test.each(['tot', 'react'])(
    'at its time limit a run of %s ends with what it has, also during a call',
    async (strategy) => {
      const model = lanefold.model((call, n) =>
        n === 0 && strategy === 'tot' ? tree(call) : new Promise<FakeTurn>(() => {}),
      );
      const { run } = await lanefold.run({
        agent: 'searcher',
        strategy,
        model: model.id,
        input: 'Q',
        maxDurationMs: 300,
      });
      expect(run).toMatchObject({ status: 'completed', terminationReason: 'max_duration' });
      expect(run.durationMs).toBeGreaterThanOrEqual(300);
    },
  );

  test('at its time limit a run ends also during a repair of its output', async () => {
    const model = lanefold.model((_, n) => (n === 0 ? { text: 'no' } : new Promise<FakeTurn>(() => {})));
    const output = { schema: z.object({ a: z.string() }) };
    const limited = { agent: 'plain', model: model.id, input: 'Q', output, maxDurationMs: 300 };
    expect((await lanefold.run(limited)).run).toMatchObject({
      status: 'failed',
      error: { type: 'output_validation', message: expect.stringContaining('maximum duration') as string },
    });
  });

  test('a token limit ends react before its next call', async () => {
    const model = lanefold.model([{ calls: [{ name: 'look', args: { at: 'x' } }] }, { text: 'done' }]);
    const { threadId, run } = await lanefold.run({
      agent: 'searcher',
      strategy: 'react',
      model: model.id,
      input: 'Q',
      maxTotalTokens: 15,
    });
    expect(run).toMatchObject({ status: 'completed', terminationReason: 'max_total_tokens' });
    await expectSound(lanefold, threadId);
  });

  test('adaptive records its choice and hands the run over, with tools where the strategy has them', async () => {
    const model = lanefold.model([{ calls: [{ name: 'look', args: { at: 'x' } }] }, { text: 'done' }]);
    const first = await lanefold.run({
      agent: 'searcher',
      strategy: 'adaptive',
      model: model.id,
      input: 'Search for x',
    });
    expect(first.run).toMatchObject({ strategy: 'adaptive', status: 'completed', result: 'done' });
    expect(await lanefold.runs.get(first)).toMatchObject({ selection: { strategy: 'react', task_type: 'tool_use' } });
    const other = lanefold.model([{ text: '1. Paris\n#### Paris' }]);
    const second = await lanefold.run({
      agent: 'searcher',
      strategy: 'adaptive',
      model: other.id,
      input: 'What is the capital of France?',
      threadId: first.threadId,
    });
    expect(second.run.result).toBe('Paris');
    expect(await lanefold.runs.get(second)).toMatchObject({
      selection: { strategy: 'cod', task_type: 'simple_query' },
    });
    await expectSound(lanefold, first.threadId);
  });

  test('adaptive refuses what the chosen strategy could not do, and nothing else', async () => {
    const request = { agent: 'searcher', strategy: 'adaptive', output: { schema: z.object({ a: z.string() }) } };
    const enqueue = (more: Partial<EnqueueOptions>) =>
      lanefold.runs.enqueue({ ...request, input: 'What is it?', ...more });
    await expect(enqueue({ output: 'raw', tools: ['look'] })).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(enqueue({})).rejects.toMatchObject({ code: 'invalid_output' });
    const model = lanefold.model([{ text: '{"a": "x"}' }]);
    const found = { ...request, model: model.id, input: 'Search for x', tools: ['look'] };
    const { run, threadId } = await lanefold.run(found);
    expect(run.result).toEqual({ a: 'x' });
    await expectSound(lanefold, threadId);
  });

  test.each<[Partial<EnqueueOptions>, string]>([
    [{ strategy: 'tot', strategyOptions: { maxDepht: 1 } }, 'invalid_strategy_options'],
    [{ strategy: 'tot', strategyOptions: { maxDepth: 0 } }, 'invalid_strategy_options'],
    [{ strategy: 'react', strategyOptions: { maxDepth: 1 } }, 'invalid_strategy_options'],
    [{ strategy: 'adaptive', strategyOptions: { strategy: 'magic' } }, 'unknown_strategy'],
    [{ strategy: 'tot', maxTotalTokens: 0 }, 'invalid_input'],
    [{ strategy: 'trm', output: { schema: z.object({ a: z.string() }) } }, 'invalid_output'],
  ])('%o is refused', async (wrong, code) => {
    await expect(lanefold.runs.enqueue({ agent: 'plain', input: 'x', ...wrong })).rejects.toMatchObject({ code });
  });
});
