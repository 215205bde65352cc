// @module-tag long
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createLanefold, defineAgent, defineTool, type Lanefold } from 'lanefold';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../src/database/postgres/embedded/index.ts';
import { isAlive } from '../../src/database/postgres/embedded/process-identity.ts';
import { fakeModel } from '../support/fake-model.ts';
import { noRedis, queueBackend, type TestLanefold } from '../support/lanefold.ts';
import { expectSound, ledgerOf } from '../support/log.ts';
import { deferred, until } from '../support/until.ts';
import { openPool } from '../support/pool.ts';

const runs = 10;

describe.skipIf(noRedis())('PostgreSQL', () => {
  let dir: string;
  let postgres: EmbeddedPostgres;
  let lanefold: Lanefold;
  let pool: pg.Pool;
  let gate: ReturnType<typeof deferred<void>>;
  let calls = 0;
  beforeAll(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'lanefold-restart-'));
    postgres = await startEmbeddedPostgres({ dir });
    gate = deferred();
    const model = fakeModel(async ({ prompt }) => {
      calls += 1;
      await gate.promise;
      return prompt.at(-1)!.role === 'user' ? { calls: [{ name: 'look' }] } : { text: 'done' };
    });
    const look = defineTool({ name: 'look', input: { type: 'object' }, execute: () => 'seen' });
    lanefold = await createLanefold({
      databaseUrl: postgres.url,
      redisUrl: queueBackend() === 'redis' ? inject('redisUrl') : null,
      queuePrefix: `t${randomBytes(4).toString('hex')}`,
      privateQueue: true,
      migrate: true,
      agents: [defineAgent({ name: 'a', model: 'fake', tools: [look] })],
      models: { fake: model },
    });
    pool = openPool({ connectionString: postgres.url, max: 2 });
  });
  afterAll(async () => {
    gate?.resolve();
    await lanefold?.close();
    await pool?.end();
    await postgres?.stop();
    await rm(dir, { recursive: true, force: true });
  });

  test('that is shut down immediately and restarted under load loses no run', async () => {
    await lanefold.startWorker({ leaseMs: 2_000, sweepMs: 200, concurrency: 4, onError: () => {} });
    const accepted = await Promise.all(
      Array.from({ length: runs }, (_, i) => lanefold.runs.enqueue({ agent: 'a', input: `run ${i}` })),
    );
    await until('the worker is at its concurrency limit', () => calls >= 4);
    const waits = accepted.map((run) => lanefold.runs.wait(run));
    // an immediate shutdown, which breaks every connection and requires recovery like a crash
    process.kill(postgres.pid, 'SIGQUIT');
    await until('it is down', () => !isAlive(postgres.pid));
    gate.resolve();
    expect(await lanefold.runs.get(accepted[0]!).catch((error: unknown) => error)).toMatchObject({
      code: 'database_unreachable',
    });
    const { port } = postgres;
    postgres = await startEmbeddedPostgres({ dir, port });
    expect(postgres.port).toBe(port);
    for (const ended of await Promise.all(waits)) expect(ended).toMatchObject({ status: 'completed', result: 'done' });
    const inspected = { ...lanefold, database: { pool } } as TestLanefold;
    for (const { threadId } of accepted) {
      expect((await ledgerOf(inspected, threadId)).map((row) => row.status)).toEqual(['ok']);
      await expectSound(inspected, threadId);
    }
  });
});
