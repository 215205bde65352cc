// @module-tag slow
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { MarkCount, MarkList, RunCounts } from '../../page/api/types.ts';
import { markedWorld } from '../page/marks/agents.ts';
import { faults, seedFaults } from '../page/marks/faults.ts';

import { until } from '../support/until.ts';
import { problem, startApi, type Api } from './helpers.ts';

const time = expect.stringMatching(/^\d{4}-/) as string;

describe('what is worth a look', () => {
  let api: Api;
  const runsOf = async (threadId: string) =>
    (await api.lanefold.runs.list({ threadId })).data.map(({ id }) => id).reverse();
  const marksOf = async (threadId: string) => {
    const ids = await runsOf(threadId);
    const { data } = (await api.call('GET', `/v1/threads/${threadId}/marks?run_ids=${ids.join()}`)).body as MarkList;
    return data;
  };
  const listed = async (path: string) =>
    ((await api.call('GET', path)).body as { data: { id: string; marks: MarkCount[] }[] }).data;

  beforeAll(async () => {
    const world = markedWorld();
    api = await startApi({ agents: world.agents, models: world.models });
    await seedFaults(api, world);
  });
  afterAll(() => api?.close());

  test.each<[string, object[]]>([
    ['tool_failed', [{ kind: 'tool_failed', seq: 3, llm_call_id: null, data: { tool: 'refund', status: 'error' } }]],
    ['tool_retried', [{ kind: 'tool_retried', seq: 3, data: { tool: 'track', attempts: 2 } }]],
    [
      'model_retried',
      [
        {
          kind: 'model_retried',
          seq: 2,
          llm_call_id: expect.stringMatching(/\.2$/),
          data: { error: { type: 'llm_request' } },
        },
      ],
    ],
    [
      'model_fell_back',
      // another model that answers at once is no retry
      [{ kind: 'model_fell_back', seq: 2, data: { model: 'fault:cheap', instead_of: 'fault:down' } }],
    ],
    [
      'model_overridden',
      [{ kind: 'model_overridden', seq: 1, data: { model: 'fault:cheap', instead_of: 'fault:plain' } }],
    ],
    [
      'cut',
      [
        { kind: 'cache_missed', seq: 6, data: { cause: 'policy' } },
        { kind: 'cut', seq: 6, llm_call_id: expect.stringMatching(/\.1$/) },
      ],
    ],
    [
      'cut_lifted',
      [
        { kind: 'cache_missed', seq: 6, data: { cause: 'policy' } },
        { kind: 'cut', seq: 6 },
        { kind: 'cache_missed', seq: 8, data: { cause: 'policy' } },
      ],
    ],
    ['over_budget', [{ kind: 'over_budget', seq: 2, llm_call_id: expect.stringMatching(/\.1$/) }]],
    [
      'cache_missed',
      [
        { kind: 'context_replaced', seq: 3, data: { reason: 'manual' } },
        { kind: 'cache_missed', seq: 5, llm_call_id: expect.stringMatching(/\.1$/), data: { cause: 'anchor', seq: 3 } },
      ],
    ],
    [
      'steered',
      [
        {
          kind: 'steered',
          seq: 3,
          llm_call_id: expect.stringMatching(/\.2$/),
          data: { kind: 'steer', by: 'desk', sent_at: time, reached_at: time },
        },
      ],
    ],
    [
      'prompt_changed',
      [
        { kind: 'prompt_changed', seq: 3, data: { by: expect.stringMatching(/^key:/) } },
        { kind: 'cache_missed', seq: 5, data: { cause: 'prompt', seq: 3 } },
      ],
    ],
    [
      'compacted',
      [
        { kind: 'compacted', seq: 7, data: { covered: [1, 4], messages: 4 } },
        { kind: 'cache_missed', seq: 9, data: { cause: 'anchor', seq: 7 } },
      ],
    ],
    [
      'waiting',
      [
        { kind: 'waiting', seq: null, data: { for: 'approval', until: time } },
        { kind: 'waiting', seq: null, data: { for: 'run' } },
      ],
    ],
    [
      'failed',
      [{ kind: 'failed', seq: null, data: { type: 'llm_request', message: expect.stringContaining('out of credit') } }],
    ],
  ])('%s is marked, with its entry and its call', async (thread, expected) => {
    expect(await marksOf(thread)).toMatchObject(expected);
  });

  test('a call is marked as a missed cache where it has a prefix_break, and nowhere else', async () => {
    for (const { fault } of faults) {
      const marks = await marksOf(fault);
      const entries = await api.lanefold.threads.entries(fault, { limit: 1_000 });
      for (const { refs } of entries) {
        const id = refs['llm_call_id'];
        if (typeof id !== 'string') continue;
        const { prefixBreak } = await api.lanefold.contexts.call(fault, id);
        const marked = marks.find(({ kind, llm_call_id: of }) => kind === 'cache_missed' && of === id);
        expect(marked?.data['cause'], `${fault} ${id}`).toBe(prefixBreak?.cause);
        if (prefixBreak && prefixBreak.cause !== 'policy') expect(marked!.data['seq']).toBe(prefixBreak.seq);
      }
    }
  });

  test('messages that a policy left out by their kind are marked, and lose the cache once', async () => {
    const marks = (await marksOf('cut_by_kind')).filter(({ kind }) => kind === 'cut' || kind === 'cache_missed');
    expect(marks.map(({ kind }) => kind)).toEqual(['cache_missed', 'cut', 'cut']);
  });

  test('a mark names a model call only where one can be read', async () => {
    const marks = await marksOf('searched');
    expect(marks.filter(({ kind }) => kind === 'cut').length).toBeGreaterThan(1);
    expect(marks.filter(({ seq }) => seq === null)).toEqual(marks.filter(({ kind }) => kind === 'cut'));
    for (const { fault } of faults) {
      for (const { llm_call_id: id } of await marksOf(fault)) {
        if (id === null) continue;
        expect(await api.call('GET', `/v1/threads/${fault}/calls/${id}`)).toMatchObject({ status: 200 });
      }
    }
  });

  test('lists count it, with the first place', async () => {
    const threads = await listed('/v1/threads');
    for (const { fault } of faults) {
      const { marks } = threads.find(({ id }) => id === fault)!;
      const all = (await marksOf(fault)).filter(({ kind }) => kind !== 'waiting');
      const kinds = [...new Set(all.map(({ kind }) => kind))];
      expect(marks, fault).toHaveLength(kinds.length);
      for (const kind of kinds) {
        const of = all.filter((mark) => mark.kind === kind);
        const { data: _, ...first } = of[0]!;
        expect(marks).toContainEqual(
          of[0]!.seq === null ? expect.objectContaining({ kind, count: of.length }) : { ...first, count: of.length },
        );
      }
    }
    const runs = await listed('/v1/runs?limit=100');
    const [failed] = await runsOf('tool_failed');
    expect(runs.find(({ id }) => id === failed)!.marks).toEqual([
      { run_id: failed, kind: 'tool_failed', seq: 3, llm_call_id: null, count: 1 },
    ]);
    const ofThread = await listed('/v1/threads/cut/runs');
    expect(ofThread.map(({ marks }) => marks.map(({ kind }) => kind))).toEqual([['cache_missed', 'cut'], [], []]);
  });

  test('lists find it, and the counts say how often', async () => {
    const all = await listed('/v1/runs?limit=100');
    const { marks, runs, since } = (await api.call('GET', '/v1/runs/counts')).body as RunCounts;
    expect({ runs, since }).toEqual({ runs: all.length, since: null });
    expect(marks.map(({ mark }) => mark).sort()).toEqual(
      [...new Set(all.flatMap((run) => run.marks.map(({ kind }) => kind)))].sort(),
    );
    for (const { mark, runs: count } of marks) {
      const has = (row: { marks: MarkCount[] }) => row.marks.some(({ kind }) => kind === mark);
      const idsOf = (rows: { id: string }[]) => rows.map(({ id }) => id);
      const found = await listed(`/v1/runs?mark=${mark}&limit=100`);
      expect(idsOf(found), mark).toEqual(idsOf(all.filter(has)));
      expect(found, mark).toHaveLength(count);
      const pages: string[] = [];
      for (let after: string | null = ''; after !== null;) {
        const path: string = `/v1/runs?mark=${mark}&limit=1${after && `&after=${encodeURIComponent(after)}`}`;
        const page = (await api.call('GET', path)).body as { data: { id: string }[]; next_after: string | null };
        pages.push(...idsOf(page.data));
        after = page.next_after;
      }
      expect(pages, mark).toEqual(idsOf(found));
      expect(idsOf(await listed(`/v1/threads?mark=${mark}`)), mark).toEqual(
        idsOf((await listed('/v1/threads')).filter(has)),
      );
    }
    const retried = (await api.call('GET', '/v1/runs/counts?mark=tool_retried')).body as RunCounts;
    expect(retried).toMatchObject({ runs: 1, statuses: [{ status: 'completed', runs: 1 }] });
    const [{ agent, version }] = retried.agents as [RunCounts['agents'][number]];
    expect(await listed(`/v1/runs?mark=tool_retried&agent=${agent}&version=${version}`)).toHaveLength(1);
    expect(await listed(`/v1/runs?mark=tool_retried&agent=${agent}&version=other`)).toEqual([]);
    expect(await api.call('GET', '/v1/runs?mark=tool_faild')).toMatchObject({ status: 400 });
  });

  test('lists find what waits, by what it waits for', async () => {
    const found = async (query: string) => (await listed(`/v1/runs?${query}`)).length;
    expect(await found('waiting_for=approval')).toBe(1);
    expect(await found('waiting_for=run')).toBe(1);
    expect(await found('waiting_for=limit')).toBe(0);
    expect(await listed('/v1/threads?waiting_for=approval')).toMatchObject([{ id: 'waiting' }]);
    expect(await found('waiting_for=approval&mark=tool_failed')).toBe(0);
  });

  test('a change that waits for the end of a run names who asked for it', async () => {
    const { runs, threads } = api.lanefold;
    await threads.create({ id: 'later' });
    const run = await runs.enqueue({ agent: 'waiting', threadId: 'later', input: 'Book the 10:12.' });
    await until('the run waits', async () => (await runs.get(run)).status === 'suspended');
    const body = { system_prompt: 'Be kind.' };
    expect((await api.call('PATCH', '/v1/threads/later/config', body)).status).toBe(202);
    await threads.configure('later', { systemPrompt: 'Be brief.' }, { by: 'nightly job' });
    await runs.cancel(run);
    await runs.wait(run);
    const changes = await threads.entries('later', { kind: 'ai_config_change' });
    expect(changes.slice(-2).map(({ payload, refs }) => [payload['value'], refs])).toEqual([
      ['Be kind.', { by: 'operator' }],
      ['Be brief.', { by: 'nightly job' }],
    ]);
    expect(changes.at(-1)!.payload).not.toHaveProperty('by');
  });

  test('refuses what is not a list of runs, and knows no thread that is not there', async () => {
    const get = (path: string) => api.call('GET', path);
    expect(await get('/v1/threads/cut/marks')).toMatchObject(problem(400, 'invalid_request'));
    expect(await get('/v1/threads/cut/marks?run_ids=')).toMatchObject(problem(400, 'invalid_request'));
    const many = Array.from({ length: 101 }, (_, n) => `r${n}`).join();
    expect(await get(`/v1/threads/cut/marks?run_ids=${many}`)).toMatchObject(problem(400, 'invalid_request'));
    expect(await get('/v1/threads/cut/marks?run_ids=none')).toMatchObject({ status: 200, body: { data: [] } });
    expect(await get('/v1/threads/none/marks?run_ids=none')).toMatchObject(problem(404, 'thread_not_found'));
  });
});
