import { defineAgent } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunNodePage } from '../../page/api/types.ts';
import { overridableFields } from '../../src/agent/definition/overridable.ts';
import { treeModel } from '../support/tree-model.ts';
import { problem, startApi, type Api } from './helpers.ts';

let api: Api;
beforeAll(async () => {
  const model = treeModel();
  api = await startApi({
    models: { tree: model },
    agents: [
      defineAgent({ name: 'searcher', model: 'tree', strategy: 'tot', strategyOptions: { maxDepth: 2 } }),
      defineAgent({ name: 'plain', model: 'scripted:echo', overridable: { http: overridableFields } }),
    ],
  });
});
afterAll(() => api?.close());

/** A list that can be read as thoughts and as scores. */
const model = `scripted:${JSON.stringify(['1. 0.4\n2. 0.7'])}`;

describe('strategies over HTTP', () => {
  const send = (request: object) =>
    api.call('POST', '/v1/threads/trees/runs', {
      agent: 'plain',
      input: 'Q',
      model,
      create_thread: true,
      busy: 'wait',
      ...request,
    });
  const ended = async (id: string) => {
    await api.lanefold.runs.wait({ threadId: 'trees', id });
    return (await api.call('GET', `/v1/threads/trees/runs/${id}`)).body as Record<string, unknown>;
  };

  test('a request names its strategy, with options and limits in snake_case, and gets its result', async () => {
    const accepted = await send({
      strategy: 'tot',
      strategy_options: { max_depth: 1, top_k: 1 },
      max_total_tokens: 9_000,
    });
    expect(accepted.status).toBe(202);
    expect(await ended((accepted.body as { id: string }).id)).toMatchObject({
      strategy: 'tot',
      status: 'completed',
      termination_reason: 'max_depth',
      result: { best: { content: '0.7', score: 0.7 }, tree: { max_depth: 1 }, candidates: [{ depth: 1 }] },
    });
  });

  test('adaptive says what it has chosen', async () => {
    const { body } = await send({ strategy: 'adaptive', input: 'Hello there', model: 'scripted:["#### Hi"]' });
    expect(await ended((body as { id: string }).id)).toMatchObject({
      strategy: 'adaptive',
      selection: { strategy: 'cod', task_type: 'general' },
      result: 'Hi',
    });
  });

  test.each([
    [{ strategy: 'magic' }, 'unknown_strategy'],
    [{ strategy: 'tot', strategy_options: { max_depht: 1 } }, 'invalid_strategy_options'],
    [{ strategy: 'tot', strategy_options: { max_depth: '1' } }, 'invalid_strategy_options'],
    [{ strategy: 'cot', strategy_options: { max_depth: 1 } }, 'invalid_strategy_options'],
  ])('%j is refused', async (request, code) => {
    expect(await send(request)).toMatchObject(problem(422, code));
  });
});

describe('the nodes of a run', () => {
  const run = async (agent: string) => {
    const run = await api.lanefold.runs.enqueue({ agent, threadId: agent, createThread: true, input: 'How?' });
    await api.lanefold.runs.wait(run);
    return run.id;
  };

  test('come in pages, in order', async () => {
    const id = await run('searcher');
    const path = `/v1/threads/searcher/runs/${id}/nodes`;
    const all = (await api.call('GET', path)).body as RunNodePage;
    expect(all.next_after).toBeNull();
    expect(all.data.map(({ kind, status }) => `${kind} ${status}`)).toEqual([
      'generate answered',
      'evaluate answered',
      'thought expanded',
      'thought open',
      'generate answered',
      'evaluate answered',
      'thought best',
      'thought open',
    ]);
    expect(all.data[6]).toMatchObject({ node: 7, parent: 3, content: 'By night', call_id: null });
    const first = (await api.call('GET', `${path}?limit=5`)).body as RunNodePage;
    const second = (await api.call('GET', `${path}?limit=5&after=${first.next_after}`)).body as RunNodePage;
    expect([...first.data, ...second.data]).toEqual(all.data);
    expect(second.next_after).toBeNull();
  });

  test('are none of a run whose answers are in the log', async () => {
    const id = await run('plain');
    expect((await api.call('GET', `/v1/threads/plain/runs/${id}/nodes`)).body).toEqual({ data: [], next_after: null });
    expect(await api.call('GET', '/v1/threads/plain/runs/run_none/nodes')).toMatchObject(problem(404, 'run_not_found'));
  });
});
