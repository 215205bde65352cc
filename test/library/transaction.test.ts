import { defineAgent, type EnqueueOptions, type RunHandle, type Transaction } from 'lanefold';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noRedis, queueBackend, startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { kinds, openTransactions, type Transactions } from '../support/transactions.ts';
import { openPool } from '../support/pool.ts';

class Rollback extends Error {}

/** What a transaction does to a job depends on the backend, and not on what opened it. */
const tried = queueBackend() === 'redis' ? kinds.slice(0, 1) : kinds;

describe.skipIf(noRedis()).each(tried)('enqueue inside a transaction of %s', (kind) => {
  let lanefold: TestLanefold;
  let pool: pg.Pool;
  let transactions: Transactions;
  const transact: Transactions['transact'] = (work) => transactions.transact(work);

  beforeAll(async () => {
    lanefold = await startLanefold({
      agents: [defineAgent({ name: 'echo', model: 'scripted:echo' })],
    });
    pool = openPool({ connectionString: lanefold.databaseUrl, max: 2 });
    await pool.query('create table app_note (text text primary key)');
    transactions = await openTransactions(kind, lanefold.databaseUrl);
  });
  afterAll(async () => {
    await transactions?.close();
    await pool?.end();
    await lanefold?.close();
  });

  const enqueue = (tx: Transaction, more: Partial<EnqueueOptions> = {}): Promise<RunHandle> =>
    lanefold.runs.enqueue({ agent: 'echo', input: 'hello', ...more }, { tx });

  /** Counts rows and jobs, as seen from outside any transaction. */
  const held = async () => {
    const { rows } = await pool.query(`select (select count(*) from lanefold.thread)::int as threads,
      (select count(*) from lanefold.run)::int as runs, (select count(*) from lanefold.thread_entry)::int as entries,
      (select count(*) from app_note)::int as notes`);
    const jobs = await Promise.all(lanefold.queues.map((queue) => queue.getJobCounts()));
    return { ...(rows[0] as object), jobs: jobs.flatMap((counts) => Object.values(counts)).reduce((a, b) => a + b, 0) };
  };

  test('a rollback leaves no thread, run or job', async () => {
    const before = await held();
    await expect(
      transact(async (tx, note) => {
        await note('rolled back');
        await enqueue(tx, { threadId: 'gone', createThread: true });
        await enqueue(tx);
        throw new Rollback();
      }),
    ).rejects.toThrow(Rollback);
    expect(await held()).toEqual(before);

    // the ids are free again, and the rolled-back work does not affect the next commit
    await transact(async (tx) => void (await enqueue(tx, { threadId: 'gone', createThread: true })));
    expect(await held()).toMatchObject({ threads: 1, runs: 1, notes: 0 });
  });

  test('the run is invisible before the commit and starts after it', async () => {
    const worker = await lanefold.startWorker();
    let run!: RunHandle;
    await transact(async (tx, note) => {
      await note('committed');
      run = await enqueue(tx);
      await expect(lanefold.runs.get(run)).rejects.toMatchObject({ code: 'run_not_found' });
    });
    expect(await lanefold.runs.wait(run)).toMatchObject({
      status: 'completed',
      result: 'hello',
    });
    const { rows } = await pool.query("select 1 from app_note where text = 'committed'");
    expect(rows).toHaveLength(1);
    await worker.stop();
  });

  test('two runs enqueued in one transaction both complete', async () => {
    const worker = await lanefold.startWorker();
    const runs: RunHandle[] = [];
    await transact(async (tx) => {
      runs.push(await enqueue(tx, { input: 'one' }));
      runs.push(await enqueue(tx, { input: 'two', threadId: runs[0]!.threadId, busy: 'wait' }));
    });
    expect(runs.map((run) => run.status)).toEqual(['queued', 'waiting']);
    const ended = await Promise.all(runs.map((run) => lanefold.runs.wait(run)));
    expect(ended.map((run) => run.result)).toEqual(['one', 'two']);
    await worker.stop();
  });

  test('repeating a request in a later transaction returns the same run', async () => {
    const request = { threadId: 'again', requestId: 'r-1' };
    let first!: RunHandle;
    let second!: RunHandle;
    await transact(async (tx) => void (first = await enqueue(tx, { ...request, createThread: true })));
    await transact(async (tx) => void (second = await enqueue(tx, { ...request, createThread: true })));
    expect([first.duplicate, second]).toEqual([false, { ...second, id: first.id, duplicate: true }]);
  });

  test('a rejected enqueue throws a typed error and rolls back the caller’s own work', async () => {
    const before = await held();
    const refused = transact(async (tx, note) => {
      await note('refused');
      await enqueue(tx, { threadId: 'nobody-made-this' });
    });
    await expect(refused).rejects.toMatchObject({ name: 'LanefoldError', code: 'thread_not_found' });
    expect(await held()).toMatchObject({ ...before, jobs: expect.any(Number) as number });
  });

  test('a rejected enqueue leaves a transaction that continues', async () => {
    let run!: RunHandle;
    await transact(async (tx, note) => {
      await note('before');
      const [refused, accepted] = await Promise.allSettled([
        enqueue(tx, { threadId: 'nobody-made-this' }),
        enqueue(tx),
      ]);
      expect(refused).toMatchObject({ reason: { code: 'thread_not_found', hint: expect.any(String) as string } });
      run = (accepted as PromiseFulfilledResult<RunHandle>).value;
      await note('after');
    });
    expect(await lanefold.runs.get(run)).toMatchObject({ id: run.id });
    expect((await pool.query("select 1 from app_note where text in ('before', 'after')")).rows).toHaveLength(2);
  });

  test('what is no transaction is refused before anything is written', async () => {
    const before = await held();
    for (const [what, none] of Object.entries(transactions.none)) {
      const refused = enqueue(none as Transaction).catch((error: unknown) => error);
      expect.soft(await refused, what).toMatchObject({ name: 'LanefoldError', code: 'not_a_transaction' });
    }
    // jobs of the runs above may still be on their way into the queue
    expect(await held()).toMatchObject({ ...before, jobs: expect.any(Number) as number });
  });
});

test('a tx of a library nobody knows is refused', async () => {
  const lanefold = await startLanefold({ agents: [defineAgent({ name: 'echo', model: 'scripted:echo' })] });
  try {
    const tx = { run: () => {} } as unknown as Transaction;
    const refused = lanefold.runs.enqueue({ agent: 'echo', input: 'hello' }, { tx });
    await expect(refused).rejects.toMatchObject({ code: 'not_a_transaction' });
  } finally {
    await lanefold.close();
  }
});
