import { expect, inject } from 'vitest';
import { recordHistory, startHistory } from '../../src/ops/chaos/history.ts';
import { Observer } from '../../src/ops/chaos/schedule.ts';
import { runChecks } from '../../src/ops/chaos/run-checks.ts';
import { readStarts, type Acknowledged } from '../../src/ops/chaos/workload/journal.ts';
import { gather } from './gather.ts';

/**
 * Asserts with the checks of a campaign that nothing acknowledged was lost, every run ended once, and numbers have no gap.
 * No run may be in progress.
 */
export async function expectWhole(databaseUrl: string, journal: string, acknowledged: Acknowledged): Promise<void> {
  let observer!: Observer;
  await gather(databaseUrl, inject('postgresUrl'), async (url) => {
    observer = new Observer(() => url);
    await startHistory(observer);
    // of the copies: what the entries were when they were written is not recorded on the nodes
    await observer.query('alter table lanefold._entry enable always trigger history');
  });
  try {
    await recordHistory(observer, { starts: readStarts(journal), workers: new Map(), acknowledged });
    const { violations, replayedCalls } = await runChecks(observer);
    expect(violations).toEqual([]);
    expect(replayedCalls).toBeGreaterThan(0);
    const [counted] = await observer.query<{ runs: number }>('select count(*)::int as runs from lanefold.run');
    expect(counted!.runs).toBeGreaterThanOrEqual(acknowledged.runs.length);
  } finally {
    await observer.close();
  }
}
