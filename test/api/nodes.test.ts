import { defineAgent } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunNodePage } from '../../page/api/types.ts';

import { treeModel } from '../support/tree-model.ts';
import { problem, startApi, type Api } from './helpers.ts';

describe('the nodes of a run', () => {
  let api: Api;
  beforeAll(async () => {
    const model = treeModel();
    api = await startApi({
      models: { tree: model },
      agents: [
        defineAgent({ name: 'searcher', model: 'tree', strategy: 'tot', strategyOptions: { maxDepth: 2 } }),
        defineAgent({ name: 'plain', model: 'scripted:echo' }),
      ],
    });
  });
  afterAll(() => api?.close());

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
      ...['generate answered', 'evaluate answered', 'thought expanded', 'thought open'],
      ...['generate answered', 'evaluate answered', 'thought best', 'thought open'],
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
