import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { problem, startApi, type Api } from './helpers.ts';

/** A list that can be read as thoughts and as scores. */
const model = `scripted:${JSON.stringify(['1. 0.4\n2. 0.7'])}`;

describe('strategies over HTTP', () => {
  let api: Api;
  beforeAll(async () => {
    api = await startApi();
  });
  afterAll(() => api?.close());

  const send = (request: object) =>
    api.call('POST', '/v1/threads/trees/runs', {
      ...{ agent: 'calc', input: 'Q', model, create_thread: true, busy: 'wait' },
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
