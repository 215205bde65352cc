import { defineAgent } from 'lanefold';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fakeModel } from '../support/fake-model.ts';
import { noRedis, queueBackend, startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { deferred, until } from '../support/until.ts';

const poolSize = 6;
/** The connections besides the pool, as in docs/run/operating.md: the queue of a backend, and what a worker adds. */
const besides = queueBackend() === 'postgres' ? { backend: 4, worker: 4 + 3 } : { backend: 0, worker: 2 };

describe.skipIf(noRedis())('the PostgreSQL connections of a process', () => {
  let lanefold: TestLanefold;
  let server: Awaited<ReturnType<TestLanefold['startServer']>>;
  let watcher: pg.Client;
  let gate: ReturnType<typeof deferred<void>>;
  beforeAll(async () => {
    gate = deferred();
    lanefold = await startLanefold({
      poolSize,
      agents: [defineAgent({ name: 'a', model: 'fake' })],
      models: { fake: fakeModel(async () => gate.promise.then(() => ({ text: 'done' }))) },
    });
    watcher = new pg.Client({ connectionString: lanefold.database.url, application_name: 'watcher' });
    await watcher.connect();
    server = await lanefold.startServer({ port: 0 });
    await lanefold.startWorker({ concurrency: 50 });
  });
  afterAll(async () => {
    gate?.resolve();
    await watcher?.end();
    await lanefold?.close();
  });

  test('stay within the documented limit with API, worker and many concurrent runs', async () => {
    let most = 0;
    let done = false;
    const watching = (async () => {
      while (!done) {
        const { rows } = await watcher.query<{ n: number }>(
          `select count(*)::int as n from pg_stat_activity
           where datname = current_database() and application_name <> 'watcher'
             -- autovacuum comes and goes as it likes
             and backend_type = 'client backend'`,
        );
        most = Math.max(most, rows[0]!.n);
      }
    })();
    const runs = await Promise.all(
      Array.from({ length: 60 }, (_, i) => lanefold.runs.enqueue({ agent: 'a', input: `run ${i}` })),
    );
    const waits = runs.map((run) => lanefold.runs.wait(run, { timeoutMs: 45_000 }));
    const asked = Array.from({ length: 60 }, async () => (await fetch(`${server.url}/readyz`)).status);
    expect(new Set(await Promise.all(asked))).toEqual(new Set([200]));
    gate.resolve();
    for (const run of await Promise.all(waits)) expect(run).toMatchObject({ status: 'completed' });
    // more reads than connections, and none can end: the pool is exhausted
    const blocker = new pg.Client({ connectionString: lanefold.database.url, application_name: 'watcher' });
    await blocker.connect();
    await blocker.query('begin; lock table lanefold.thread');
    const reads = runs.map(({ threadId }) => lanefold.threads.peek(threadId));
    await until('the pool is exhausted', () => most >= poolSize);
    await blocker.end();
    await Promise.all(reads);
    done = true;
    await watching;
    expect(most).toBeGreaterThanOrEqual(poolSize);
    expect(most).toBeLessThanOrEqual(poolSize + besides.backend + besides.worker);
  });
});
