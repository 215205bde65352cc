import { expect, test } from 'vitest';
import type { Database } from '../../src/postgres/pool.ts';
import { RunWaiter } from '../../src/library/waiter.ts';
import { EventFeed } from '../../src/streams/feed.ts';
import { deferred } from '../support/until.ts';
import { rows, useLog } from './helpers.ts';
import { planNodes, type Explained, type PlanNode } from './plan.ts';

const log = useLog();
const many = Array.from({ length: 100 }, (_, n) => `t${n}`);

/** The first statement that `ask` sends, as the planner sees it before anything was analyzed. */
async function planOf(ask: (db: Database) => void): Promise<PlanNode[]> {
  const asked = deferred<[string, unknown[]]>();
  ask({
    ...log.db,
    query: (_, text, values) => {
      asked.resolve([text, values!]);
      return Promise.resolve([]);
    },
  });
  const [text, values] = await asked.promise;
  const [explained] = await rows<Explained>(log.db, `explain (format json) ${text}`, ...values);
  return planNodes(explained!);
}

test.each([
  [
    'many runs are waited for',
    '_run',
    (db: Database) => {
      const waiter = new RunWaiter(db);
      for (const id of many) void waiter.ended(id, id).catch(() => {});
      return waiter;
    },
  ],
  [
    'many threads are streamed',
    'thread',
    (db: Database) => {
      const feed = new EventFeed(db);
      for (const id of many) void feed.refresh(feed.watch(id, 0).feed);
      return feed;
    },
  ],
])('without statistics, and while %s, no statement scans %s', async (_, table, watch) => {
  let watching: { close(): void } | undefined;
  const plan = await planOf((db) => (watching = watch(db)));
  watching!.close();
  const reads = plan.filter((node) => node['Relation Name'] === table).map((node) => node['Node Type']);
  expect(reads.length).toBeGreaterThan(0);
  for (const read of reads) expect(read).toMatch(/^Index/);
});
