// @module-tag long
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createLanefold, isLanefoldError, type Lanefold } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startHarness, type FaultHarness } from '../faults/harness.ts';
import { faultAgent } from '../faults/fixtures/agent.ts';

import { contextOf, expectSound } from '../support/log.ts';
import { startPgBouncer, type PgBouncer } from '../support/pgbouncer.ts';
import { deferred, until } from '../support/until.ts';
import { openPool } from '../support/pool.ts';

const probeDir = await mkdtemp(path.join(tmpdir(), 'lanefold-bouncer-'));
afterAll(() => rm(probeDir, { recursive: true, force: true }));

describe('behind PgBouncer in transaction mode', () => {
  let bench: FaultHarness;
  let bouncer: PgBouncer | undefined;
  let lanefold: Lanefold;
  let through: { databaseUrl: string; directUrl: string };
  beforeAll(async () => {
    bench = await startHarness();
    bouncer = await startPgBouncer(bench.database.url, probeDir);
    if (!bouncer) return;
    through = { databaseUrl: bouncer.url, directUrl: bench.database.url };
    vi.stubEnv('LANEFOLD_PREPARED_STATEMENTS', 'off');
    lanefold = await createLanefold({ ...bench.options, ...through });
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await lanefold?.close();
    await bouncer?.stop();
    await bench?.close();
  });
  const bounced = (name: string, body: () => Promise<void>) =>
    test(name, async ({ skip }) => {
      if (!bouncer) return skip('there is no pgbouncer on this machine');
      await body();
    });

  bounced('many runs at once end, with waits, and leave sound logs', async () => {
    bench.callServer.respond = (call) =>
      call.kind === 'tool'
        ? { result: 'done' }
        : call.turn === 0
          ? {
              calls: [
                { id: 'c0', name: 'look' },
                { id: 'c1', name: 'charge' },
              ],
            }
          : { text: 'ended' };
    const worker = await lanefold.startWorker();
    const runs = await Promise.all(
      Array.from({ length: 20 }, (_, i) => lanefold.runs.enqueue({ agent: 'fault', input: `run ${i}` })),
    );
    for (const run of await Promise.all(runs.map((run) => lanefold.runs.wait(run))))
      expect(run).toMatchObject({ status: 'completed', result: 'ended' });
    for (const run of runs) await expectSound(bench, run.threadId);
    await worker.stop();
  });

  bounced('a run is steered, another cancelled', async () => {
    const gate = deferred();
    bench.callServer.respond = async ({ turn }) => gate.promise.then(() => ({ text: `answer ${turn}` }));
    const worker = await lanefold.startWorker();
    const count = () => bench.callServer.count('model');
    const before = count();
    const steered = await lanefold.runs.enqueue({ agent: 'fault', input: 'one' });
    const cancelled = await lanefold.runs.enqueue({ agent: 'fault', input: 'two' });
    await until('both wait for the model', () => count() === before + 2);
    expect(await lanefold.runs.steer(steered.threadId, 'and more')).toMatchObject({ status: 'queued' });
    await lanefold.runs.cancel(cancelled);
    expect(await lanefold.runs.wait(cancelled)).toMatchObject({ status: 'cancelled' });
    gate.resolve();
    expect(await lanefold.runs.wait(steered)).toMatchObject({ status: 'completed' });
    expect((await contextOf(lanefold, steered.threadId)).map(([role, content]) => `${role}: ${content}`)).toEqual([
      'system: Be steady.',
      'user: one',
      'assistant: answer 0',
      'user: and more',
      'assistant: answer 0',
    ]);
    for (const run of [steered, cancelled]) await expectSound(bench, run.threadId);
    await worker.stop();
  });

  bounced('a run is enqueued in a transaction of the caller’s, through the pooler too', async () => {
    bench.callServer.respond = () => ({ text: 'ended' });
    const pool = openPool({ connectionString: bouncer!.url, max: 2 });
    const client = await pool.connect();
    const enqueue = () => lanefold.runs.enqueue({ agent: 'fault', input: 'hi' }, { tx: client });
    await client.query('begin');
    const gone = await enqueue();
    await client.query('rollback');
    await client.query('begin');
    const kept = await enqueue();
    await client.query('commit');
    client.release();
    await pool.end();
    const worker = await lanefold.startWorker();
    expect(await lanefold.runs.wait(kept)).toMatchObject({ status: 'completed', result: 'ended' });
    await expect(lanefold.runs.get(gone)).rejects.toMatchObject({ code: 'run_not_found' });
    await worker.stop();
  });

  bounced('statements of two tenants and an operator share connections, and each sees its own', async () => {
    const ids = await Promise.all(
      ['acme', 'bolt'].map(async (tenant) => (await lanefold.forTenant(tenant).threads.create()).id),
    );
    const seen = (tenant: string) =>
      Promise.all(
        ids.map((id) =>
          lanefold
            .forTenant(tenant)
            .threads.get(id)
            .then(
              (thread) => thread.tenantId,
              (error: { code: string }) => error.code,
            ),
        ),
      );
    const asked = await Promise.all(
      Array.from({ length: 20 }, async (_, i) => [i % 2, await seen(i % 2 ? 'bolt' : 'acme')] as const),
    );
    for (const [bolt, found] of asked)
      expect(found).toEqual(bolt ? ['thread_not_found', 'bolt'] : ['acme', 'thread_not_found']);
    for (const id of ids) expect(await lanefold.threads.get(id)).toMatchObject({ id });
  });

  bounced('a worker is killed in a model call, and another one continues', async () => {
    bench.callServer.respond = ({ worker }) => (worker === 'child' ? new Promise<never>(() => {}) : { text: 'saved' });
    const { queuePrefix, redisUrl } = bench.options;
    const own = { ...through, preparedStatements: false, queuePrefix: queuePrefix!, redisUrl: redisUrl! };
    const child = await bench.spawnWorker({ lanefold: own });
    const run = await lanefold.runs.enqueue({ agent: 'fault', input: 'hi' });
    await until('the child is at it', () => bench.callServer.calls.some((call) => call.worker === 'child'));
    await child.kill();
    await bench.expireLease(run.threadId);
    const worker = await lanefold.startWorker({ sweepMs: 100 });
    expect(await lanefold.runs.wait(run)).toMatchObject({ status: 'completed', result: 'saved' });
    await expectSound(bench, run.threadId);
    await worker.stop();
  });

  bounced('with prepared statements left on says what is wrong and what to do', async () => {
    const careless = await createLanefold({
      ...bench.options,
      ...faultAgent(bench.callServer.url, 'careless'),
      ...through,
      preparedStatements: true,
    });
    try {
      // Two connections share those of the pooler, so eventually one gets the statements the other prepared.
      const failed = await until('connections are mixed', async () => {
        const answers = await Promise.allSettled(
          Array.from({ length: 10 }, () => careless.threads.get('no-such-thread')),
        );
        return answers.find(
          (answer) => answer.status === 'rejected' && !isLanefoldError(answer.reason, 'thread_not_found'),
        ) as PromiseRejectedResult | undefined;
      });
      expect(failed.reason).toMatchObject({
        code: 'prepared_statement_lost',
        status: 503,
        hint: expect.stringContaining('LANEFOLD_PREPARED_STATEMENTS=off'),
      });
    } finally {
      await careless.close();
    }
  });

  test('LANEFOLD_PREPARED_STATEMENTS accepts only on and off', async () => {
    vi.stubEnv('LANEFOLD_PREPARED_STATEMENTS', 'maybe');
    await expect(createLanefold({ ...bench.options })).rejects.toMatchObject({ code: 'invalid_input' });
    vi.stubEnv('LANEFOLD_PREPARED_STATEMENTS', 'off');
  });
});
