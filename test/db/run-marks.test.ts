import { expect, test } from 'vitest';
import { endedByLimit } from '../../src/agent/strategies/limits.ts';
import type { JsonObject } from '../../src/agent/context/message.ts';
import { newThread, rows, useLog } from './helpers.ts';
import { answer, asks, input, sqlRun } from './sql-run.ts';

const log = useLog();

async function marksOf(threadId: string, ...runIds: string[]) {
  const marks = await rows<{
    run_id: string;
    kind: string;
    seq: string | null;
    llm_call_id: string | null;
    data: JsonObject;
  }>(
    log.db,
    'select * from lanefold.run_marks($1, $2) order by seq nulls last, llm_call_id, kind, data::text',
    threadId,
    runIds,
  );
  await expectStored(threadId, runIds, marks);
  return marks;
}

/** What is stored of a run is what its marks say: all of them once it has ended, and no others before. */
async function expectStored(threadId: string, runIds: string[], marks: { run_id: string; kind: string }[]) {
  const stored = await rows<{ run_id: string; kind: string; ended: boolean }>(
    log.db,
    `select m.run_id, m.kind, m.count, m.seq, m.llm_call_id, r.finished_at is not null as ended
     from lanefold.run_mark m join lanefold.run r on r.thread_id = m.thread_id and r.id = m.run_id
     where m.thread_id = $1 and m.run_id = any ($2)`,
    threadId,
    runIds,
  );
  const ended = await rows<{ id: string }>(
    log.db,
    'select id from lanefold.run where thread_id = $1 and id = any ($2) and finished_at is not null',
    threadId,
    runIds,
  );
  const derived = new Map<string, { count: number; first: unknown }>();
  for (const { run_id, kind, ...mark } of marks.filter((mark) => mark.kind !== 'waiting')) {
    const { seq, llm_call_id } = mark as { seq?: unknown; llm_call_id?: unknown };
    const known = derived.get(`${run_id} ${kind}`);
    derived.set(`${run_id} ${kind}`, { first: known?.first ?? { seq, llm_call_id }, count: (known?.count ?? 0) + 1 });
  }
  const keyOf = (mark: { run_id: string; kind: string }) => `${mark.run_id} ${mark.kind}`;
  expect([...derived.keys()]).toEqual(expect.arrayContaining(stored.map(keyOf)));
  for (const { id } of ended) {
    const of = <Value>(entries: Iterable<[string, Value]>) =>
      Object.fromEntries([...entries].filter(([key]) => key.startsWith(`${id} `)));
    const kept = stored.map(
      ({ count, seq, llm_call_id, ...mark }: Record<string, unknown>) =>
        [keyOf(mark as never), { count, first: { seq, llm_call_id } }] as [string, unknown],
    );
    expect(of(kept)).toEqual(of(derived));
  }
}

/** An answer of the model, by the number of its call. */
const answered = (call: number, data: JsonObject = {}): JsonObject =>
  answer('done', {
    entries: [{ role: 'assistant', payload: { content: 'done' }, refs: { llm_call_id: `run.${call}` } }],
    events: [{ k: 'llm_completed', i: 1, e: 0, c: call, d: data }],
  });

test('marks the worker that died at the answer that came in the end', async () => {
  const threadId = await newThread(log);
  const run = sqlRun(log.db, threadId, 'run');
  await run.enqueue();
  await run.claim({ leaseMs: -1_000, workerId: 'gone' });
  await run.claim({ workerId: 'next' });
  expect(await marksOf(threadId, 'run')).toMatchObject([
    { kind: 'worker_lost', seq: null, llm_call_id: null, data: { worker_id: 'gone' } },
  ]);
  await run.commit(0, answered(1), { lease: 2 });
  expect(await marksOf(threadId, 'run')).toMatchObject([{ kind: 'worker_lost', seq: '1', llm_call_id: 'run.1' }]);
});

test('marks a poisoned run, the calls it left open, and the steering it never took', async () => {
  const threadId = await newThread(log);
  const run = sqlRun(log.db, threadId, 'run');
  await run.enqueue();
  await run.claim();
  await run.commit(0, asks(['a']), { leaseMs: -1_000 });
  await input(log.db, threadId, 'in-1', 'Hurry.');
  for (let i = 0; i < 5; i++) await run.claim({ leaseMs: -1_000 });
  expect(await run.claim()).toMatchObject({ reason: 'poisoned' });
  const marks = await marksOf(threadId, 'run');
  expect(marks.filter(({ kind }) => kind !== 'worker_lost')).toMatchObject([
    { kind: 'tool_failed', seq: '2', data: { tool: expect.any(String), status: expect.any(String) } },
    { kind: 'failed', seq: null, data: { type: 'poisoned' } },
    { kind: 'steer_dropped', seq: null, data: { kind: 'steer', by: 'test' } },
  ]);
  expect(marks.filter(({ kind }) => kind === 'worker_lost')).toHaveLength(6);
});

test('marks a run that was abandoned, and no other that was cancelled', async () => {
  const threadId = await newThread(log);
  for (const [id, reason] of [
    ['left', 'abandoned'],
    ['stopped', 'user_cancelled'],
  ] as const) {
    const run = sqlRun(log.db, threadId, id);
    await run.enqueue();
    await run.cancel(reason);
    expect(await run.row()).toMatchObject({ status: 'cancelled' });
  }
  expect(await marksOf(threadId, 'left', 'stopped')).toMatchObject([{ run_id: 'left', kind: 'abandoned', seq: null }]);
});

test('marks a run that waits for its start, or for a worker that knows its agent', async () => {
  const [early, unknown] = [await newThread(log), await newThread(log)];
  await sqlRun(log.db, early, 'run').enqueue({ delayMs: 600_000 });
  expect(await marksOf(early, 'run')).toMatchObject([{ kind: 'waiting', data: { for: 'start_at' } }]);
  const run = sqlRun(log.db, unknown, 'run');
  await run.enqueue();
  expect(await marksOf(unknown, 'run')).toEqual([]);
  await run.move({ patienceMs: null });
  expect(await marksOf(unknown, 'run')).toMatchObject([{ kind: 'waiting', data: { for: 'worker' } }]);
});

test('marks a run that waits for a limit, with its name and key', async () => {
  const threadId = await newThread(log);
  await sqlRun(log.db, threadId, 'run').enqueue();
  const limitedBy = { limit: 'tokens', key: 'acme', until: '2030-01-01T00:00:00.000Z' };
  await log.db.query('await_limit', 'select lanefold.await_limit($1, $2, 1, $3)', [threadId, 'run', limitedBy]);
  expect(await marksOf(threadId, 'run')).toMatchObject([{ kind: 'waiting', data: { for: 'limit', ...limitedBy } }]);
});

test('says until when a run waits only where that is what it waits for', async () => {
  const threadId = await newThread(log);
  await sqlRun(log.db, threadId, 'first').enqueue();
  await sqlRun(log.db, threadId, 'second').enqueue({ busy: 'wait', delayMs: 600_000 });
  expect(await marksOf(threadId, 'second')).toMatchObject([{ kind: 'waiting', data: { for: 'run' } }]);
  expect((await marksOf(threadId, 'second'))[0]!.data).toEqual({ for: 'run' });
});

test('marks a call whose model a request transformer chose', async () => {
  const threadId = await newThread(log);
  const run = sqlRun(log.db, threadId, 'run');
  await run.enqueue();
  await run.claim();
  await run.commit(0, answered(1, { model: 'scripted:y' }));
  expect(await marksOf(threadId, 'run')).toMatchObject([
    {
      kind: 'model_overridden',
      seq: '1',
      llm_call_id: 'run.1',
      data: { model: 'scripted:y', instead_of: 'scripted:x', transformer: true },
    },
  ]);
});

test('marks a replaced context at the answer that comes next, and not in the runs that follow', async () => {
  const threadId = await newThread(log);
  for (const [n, id] of ['first', 'second', 'third'].entries()) {
    if (id === 'second') await log.contexts.replace(threadId, { entries: [{ role: 'user', content: 'anew' }] });
    const run = sqlRun(log.db, threadId, id);
    await run.enqueue();
    await run.claim();
    await run.commit(0, answered(n + 1));
  }
  expect(await marksOf(threadId, 'first', 'second', 'third')).toMatchObject([
    { run_id: 'second', kind: 'context_replaced', seq: '2' },
    { run_id: 'second', kind: 'cache_missed', seq: '4', data: { cause: 'anchor', seq: 2 } },
  ]);
});

test('knows nothing of runs that are not on the thread', async () => {
  const threadId = await newThread(log);
  expect(await marksOf(threadId, 'none')).toEqual([]);
});

test('marks a run that a limit ended, which has no answer', async () => {
  const threadId = await newThread(log);
  const run = sqlRun(log.db, threadId, 'run');
  await run.enqueue();
  await run.claim();
  expect(await run.row()).toMatchObject({ answered: null });
  await run.commit(0, { finish: { status: 'completed', reason: 'max_iterations', result: null } });
  expect(await marksOf(threadId, 'run')).toMatchObject([
    { kind: 'ended_early', seq: null, data: { reason: 'max_iterations', answered: false } },
  ]);
  expect(await run.row()).toMatchObject({ status: 'completed', answered: false });
});

test('marks agents that hand a run back and forth', async () => {
  const threadId = await newThread(log);
  const run = sqlRun(log.db, threadId, 'run');
  await run.enqueue();
  await run.claim();
  const handed = (from: string, to: string) => ({ k: 'handed_over', i: 1, d: { from, to } });
  await run.commit(0, { events: [handed('agent', 'billing'), handed('billing', 'agent')] });
  expect(await marksOf(threadId, 'run')).toEqual([]);
  await run.commit(1, { events: [handed('agent', 'billing'), handed('billing', 'agent')] });
  const loops = [
    { kind: 'handoffs_looped', seq: null, data: { agent: 'agent', times: 2 } },
    { kind: 'handoffs_looped', seq: null, data: { agent: 'billing', times: 2 } },
  ];
  expect(await marksOf(threadId, 'run')).toMatchObject(loops);
  await run.commit(2, answered(1));
  expect(await marksOf(threadId, 'run')).toMatchObject(loops);
});

test('marks a lane at its next answer, however many runs other lanes had since the change', async () => {
  const threadId = await newThread(log);
  const turn = async (id: string, contextRef: string, n: number) => {
    const run = sqlRun(log.db, threadId, id);
    await run.enqueue({ contextRef });
    await run.claim();
    await run.commit(0, answered(n));
    return marksOf(threadId, id);
  };
  await turn('a-1', 'default', 1);
  await turn('b-1', 'side', 1);
  await log.contexts.switch(threadId, 'side');
  await log.contexts.replace(threadId, { entries: [{ role: 'user', content: 'anew' }] });
  for (const id of ['a-2', 'a-3']) expect(await turn(id, 'default', 1)).toEqual([]);
  expect((await turn('b-2', 'side', 1)).map(({ kind }) => kind)).toEqual(['context_replaced', 'cache_missed']);
  expect(await turn('b-3', 'side', 1)).toEqual([]);
});

test('marks input that a run got before a worker took it', async () => {
  const threadId = await newThread(log);
  const run = sqlRun(log.db, threadId, 'run');
  await run.enqueue();
  await input(log.db, threadId, 'in-1', 'Hurry.');
  await run.claim();
  expect(await marksOf(threadId, 'run')).toMatchObject([{ kind: 'steered', llm_call_id: null }]);
  await run.commit(0, answered(1));
  expect(await marksOf(threadId, 'run')).toMatchObject([{ kind: 'steered', llm_call_id: 'run.1' }]);
});

test.each([
  'max_iterations',
  'max_total_tokens',
  'max_duration',
  'budget_exhausted',
  'final_answer',
  'success',
  'max_depth',
  'error',
])('the database and the library agree whether %s is a limit', async (reason) => {
  expect(await rows(log.db, 'select lanefold._is_limit($1) as is', reason)).toEqual([{ is: endedByLimit(reason) }]);
});
