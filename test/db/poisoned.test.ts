import { describe, expect, test } from 'vitest';
import { newThread, rows, useLog } from './helpers.ts';
import { asks, sqlRun } from './sql-run.ts';

const log = useLog();

async function enqueued() {
  const threadId = await newThread(log, { systemPrompt: 'p' });
  const run = sqlRun(log.db, threadId, 'run');
  await run.enqueue({ input: 'go' });
  const release = (lease: number, stopping: boolean) =>
    rows(log.db, 'select * from lanefold.release_run($1, $2, $3, $4)', threadId, 'run', lease, stopping);
  return { threadId, run, release };
}

type Run = Awaited<ReturnType<typeof enqueued>>['run'];
/** Claims whose workers are lost at once. */
async function lose(run: Run, times: number, terms: Parameters<Run['claim']>[0]): Promise<void> {
  for (let i = 0; i < times; i++)
    expect(await run.claim({ leaseMs: -1_000, ...terms })).toMatchObject({ claimed: true });
}

describe('a run that no claim advances', () => {
  test('is poisoned after five claims by workers without other runs, with its group closed, and the next takes over', async () => {
    const { threadId, run } = await enqueued();
    await run.claim();
    await run.commit(0, asks(['a']), { leaseMs: -1_000 });
    const next = sqlRun(log.db, threadId, 'next');
    await next.enqueue({ busy: 'wait' });
    await lose(run, 5, { alone: true });
    expect(await run.claim()).toMatchObject({
      claimed: false,
      status: 'failed',
      reason: 'poisoned',
      promoted: { run_id: 'next', enqueue_no: 1 },
    });
    expect(await run.claim()).toMatchObject({ claimed: false, promoted: { run_id: 'next' } });
    expect(await run.row()).toMatchObject({
      status: 'failed',
      termination_reason: 'poisoned',
      error: { type: 'poisoned' },
    });
    expect((await log.threads.entries(threadId)).map((e) => e.role ?? e.kind)).toEqual([
      'ai_config_change',
      'user',
      'assistant',
      'tool',
    ]);
    expect(await next.claim()).toMatchObject({ claimed: true });
  });

  test('is left for a worker without other runs after four claims, none of which counts against it', async () => {
    const { run } = await enqueued();
    await lose(run, 4, { alone: false });
    const left = { claimed: false, status: 'queued', reason: 'alone' };
    const lost = { worker_id: 'w1', seen_at: expect.any(String) as string };
    expect(await run.claim({ alone: false })).toEqual({ ...left, lost });
    expect(await run.row()).toMatchObject({ status: 'queued', lease_until: null });
    // also of another worker that asks, for the first one may be lost
    expect(await run.claim({ alone: false })).toEqual({ ...left, lost });
    await lose(run, 5, { alone: true });
    expect(await run.claim({ alone: false })).toEqual({ ...left, lost, ends: true });
    expect(await run.claim({ alone: false, lossCause: null })).toMatchObject({ status: 'failed', reason: 'poisoned' });
  });

  test('is not ended for workers that were lost for another reason, until there were twenty', async () => {
    const { run } = await enqueued();
    await lose(run, 4, { alone: false });
    await lose(run, 4, { alone: true });
    await lose(run, 11, { alone: true, lossCause: 'workers_lost' });
    expect(await run.claim({ alone: false })).not.toHaveProperty('ends');
    await lose(run, 1, { alone: true, lossCause: 'workers_lost' });
    expect(await run.claim({ lossCause: 'workers_lost' })).toMatchObject({ reason: 'poisoned' });
  });

  test('has one claim excused for each worker that was lost', async () => {
    const { run, release } = await enqueued();
    await lose(run, 4, { alone: false });
    await lose(run, 4, { alone: true });
    // the fifth is given back because its commits fail: no worker was lost
    await run.claim({ alone: true });
    await release(9, false);
    expect(await run.claim({ alone: true, lossCause: 'worker_stopping', enqueueNo: 2 })).toMatchObject({
      reason: 'poisoned',
    });
  });

  test('has no claim counted by a worker that stops', async () => {
    const { run, release } = await enqueued();
    await lose(run, 4, { alone: false });
    await lose(run, 4, { alone: true });
    for (let n = 0; n < 3; n++) {
      expect(await run.claim({ alone: true, enqueueNo: n + 1 })).toMatchObject({ claimed: true });
      await release(9 + n, true);
    }
    expect(await run.claim({ alone: true, enqueueNo: 4 })).toMatchObject({ claimed: true });
  });

  test('a committed step resets the count; one that only resumes the run does not', async () => {
    const { run } = await enqueued();
    await lose(run, 4, { alone: true });
    await run.commit(0, { events: [] }, { lease: 4, leaseMs: -1_000 });
    for (let lease = 5; lease <= 9; lease++) {
      expect(await run.claim({ leaseMs: -1_000 })).toMatchObject({ claimed: true, lease });
      await run.commit(lease - 4, { resumed: true }, { lease, leaseMs: -1_000 });
    }
    expect(await run.claim()).toMatchObject({ claimed: false, reason: 'poisoned' });
  });

  test('that a node of a restarted server lost has that cause', async () => {
    const { run, threadId } = await enqueued();
    await lose(run, 4, { alone: false });
    await log.pool.query(
      `update lanefold._run set lease_until = pg_postmaster_start_time() - interval '3 s' where thread_id = $1`,
      [threadId],
    );
    expect(await run.claim({ alone: false })).toMatchObject({ lost: { cause: 'database_restarted' } });
  });
});
