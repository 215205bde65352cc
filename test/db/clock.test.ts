import { expect, test } from 'vitest';
import { openDatabase } from '../../src/postgres/pool.ts';
import { newThread, useLog, value } from './helpers.ts';
import { answer, sqlRun } from './sql-run.ts';

const log = useLog();

test('a clock that is moved ends a lease without waiting for it', async () => {
  const threadId = await newThread(log);
  const run = sqlRun(log.db, threadId, 'run');
  await run.enqueue();
  await run.claim({ leaseMs: 1_800_000 });
  expect(await run.claim({ workerId: 'w2' })).toMatchObject({ claimed: false, reason: 'leased' });
  expect(await run.requeue()).toEqual([]);

  const database = await value<string>(log.db, 'select current_database()');
  await log.pool.query(`alter database ${database} set lanefold.clock_offset = '1 hour'`);
  const later = openDatabase({ url: log.url, max: 1 });
  try {
    expect(
      await value<number>(later, 'select extract(epoch from lanefold._now() - clock_timestamp())::float8'),
    ).toBeCloseTo(3_600, 0);
    const afterwards = sqlRun(later, threadId, 'run');
    expect(await afterwards.requeue()).toMatchObject([{ enqueue_no: 2 }]);
    expect(await afterwards.claim({ enqueueNo: 2, workerId: 'w2' })).toMatchObject({ claimed: true, lease: 2 });
    await afterwards.commit(0, answer('done'), { lease: 2 });
    const { duration_ms: durationMs } = await afterwards.row();
    expect(Number(durationMs)).toBeGreaterThan(3_500_000);
  } finally {
    await later.close();
    await log.pool.query(`alter database ${database} reset lanefold.clock_offset`);
  }
});
