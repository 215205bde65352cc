import { afterAll, beforeAll, expect, test } from 'vitest';
import { Guard } from '../../src/database/nodes/guard.ts';
import type { NodeAnswer } from '../../src/database/nodes/watched-node.ts';
import { openDatabase } from '../../src/database/postgres/pool.ts';
import type { DatabaseNode } from '../../src/database/postgres/node-guard.ts';
import { isNodeUnreachable } from '../../src/database/postgres/errors.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';
import { processClock } from '../../src/base/common/timer.ts';

let database: TestDatabase;
beforeAll(async () => void (database = await createDatabase({ empty: true })));
afterAll(() => database.drop());

/** One server plays two nodes: threads with a hash up to 0 are on `low`, others on `high`. */
const placements = {
  shards: [
    { upTo: 0, host: 'low', port: 1 },
    { upTo: 2 ** 31 - 1, host: 'high', port: 2 },
  ],
  relations: new Set(['_run']),
  functions: new Set(['commit_step']),
  everywhere: new Set<string>(),
  delegated: new Set<string>(),
};
const [stuck, fine] = ['low:1', 'high:2'];
/** Waits for a lock that a test holds, as a statement waits for a node. */
const wait = 'select pg_advisory_xact_lock_shared(1) /* lanefold.commit_step($1) */ where $1::text is not null';
const answer = 'select 1 as one /* lanefold.commit_step($1) */ where $1::text is not null';

test('a node that does not answer costs others nothing, and its own statements fail at once until it answers', async () => {
  const answers = new Map<string, NodeAnswer>([
    [stuck, 'answers'],
    [fine, 'answers'],
  ]);
  const asked: string[] = [];
  const changes: [string, boolean][] = [];
  const guard = new Guard(
    {
      readPlacements: () => Promise.resolve(placements),
      ask: ({ host, port }) => {
        asked.push(`${host}:${port}`);
        return Promise.resolve(answers.get(`${host}:${port}`));
      },
      onChange: ({ name, isDown }: DatabaseNode) => void changes.push([name, isDown]),
    },
    placements,
  );
  const threads = Array.from({ length: 40 }, (_, n) => `thread-${n}`);
  const on = (node: string) => threads.filter((id) => guard.nodeOf(id) === node);
  const db = openDatabase({
    url: database.url,
    max: 4,
    settings: { distributed: true, clock: processClock, nodes: guard },
  });
  const holder = await database.pool.connect();
  try {
    await holder.query('select pg_advisory_lock(1)');
    const waiting = on(stuck).map((id) => db.query('wait', wait, [id]).catch((error: unknown) => error));
    expect(waiting.length).toBeGreaterThan(4);
    // all of them wait, and still there are connections for the other node
    for (const id of on(fine)) expect(await db.query('answer', answer, [id])).toEqual([{ one: 1 }]);

    // a node that answers when it is asked is not down, however long its statements wait
    await until('the node was asked', () => asked.includes(stuck));
    expect(changes).toEqual([]);
    answers.set(stuck, 'silent');
    for (const error of await Promise.all(waiting)) {
      expect(error).toMatchObject({ code: 'database_unreachable', details: { node: stuck } });
      expect(isNodeUnreachable(error)).toBe(true);
    }
    expect(changes).toEqual([[stuck, true]]);
    await expect(db.query('answer', answer, [on(stuck)[0]])).rejects.toMatchObject({ details: { node: stuck } });
    await expect(db.query('all', 'select 1 /* lanefold._run */')).rejects.toMatchObject({ details: { node: stuck } });
    expect(await db.query('own', 'select 1 as one')).toEqual([{ one: 1 }]);

    answers.set(stuck, 'answers');
    await until('the node counts as answering', () => changes.length === 2);
    expect(await db.query('answer', answer, [on(stuck)[0]])).toEqual([{ one: 1 }]);
  } finally {
    guard.close();
    holder.release(true);
    await db.close();
  }
});

test('calls that wait for a locked thread leave connections for other threads of its node', async () => {
  const ask = () => Promise.resolve('answers' as const);
  const guard = new Guard({ readPlacements: () => Promise.resolve(placements), ask, onChange: () => {} }, placements);
  const db = openDatabase({
    url: database.url,
    max: 6,
    settings: { distributed: true, clock: processClock, nodes: guard },
  });
  const [locked, free] = Array.from({ length: 40 }, (_, n) => `thread-${n}`).filter((id) => guard.nodeOf(id) === stuck);
  const holder = await database.pool.connect();
  try {
    await holder.query('select pg_advisory_lock(1)');
    const waiting = Array.from({ length: 6 }, () => db.queryLocking('wait', wait, [locked]));
    await until('they wait', async () => {
      const { rows } = await holder.query("select from pg_locks where locktype = 'advisory' and not granted");
      return rows.length === 2;
    });
    expect(await db.query('answer', answer, [free])).toEqual([{ one: 1 }]);
    await holder.query('select pg_advisory_unlock(1)');
    expect(await Promise.all(waiting)).toHaveLength(6);
  } finally {
    guard.close();
    holder.release(true);
    await db.close();
  }
});
