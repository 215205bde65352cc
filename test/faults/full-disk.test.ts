// @module-tag long
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { createLanefold, defineAgent, isLanefoldError, type Lanefold } from 'lanefold';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../src/database/postgres/embedded/index.ts';
import { isAlive } from '../../src/database/postgres/embedded/process-identity.ts';
import { fakeModel } from '../support/fake-model.ts';
import type { TestLanefold } from '../support/lanefold.ts';
import { entriesOf, expectSound } from '../support/log.ts';
import { functionsIn } from '../support/statements.ts';
import { deferred, until } from '../support/until.ts';
import { openPool } from '../support/pool.ts';

const run = promisify(execFile);

/** Mounts a separate file system that can be filled safely; undefined without permission to mount. */
async function mountSmallDisk(): Promise<string | undefined> {
  const dir = await mkdtemp(path.join(tmpdir(), 'lanefold-disk-'));
  try {
    await run('mount', ['-t', 'tmpfs', '-o', 'size=256m', 'tmpfs', dir]);
    await chmod(dir, 0o755);
    return dir;
  } catch {
    await rm(dir, { recursive: true });
    return undefined;
  }
}

async function unmount(dir: string): Promise<void> {
  await run('umount', ['--lazy', dir]);
  await rm(dir, { recursive: true });
}

const probe = await mountSmallDisk();
if (probe) await unmount(probe);
const reason = probe ? '' : ' (skipped: no permission to mount a tmpfs)';

/** Incompressible text, which needs new pages immediately. */
const bulky = (bytes: number) => randomBytes(bytes / 2).toString('hex');

describe.skipIf(!probe)(`a full disk under PostgreSQL${reason}`, () => {
  let disk: string;
  let ballast: string;
  let postgres: EmbeddedPostgres;
  let lanefold: Lanefold;
  let pool: pg.Pool;
  let gate: ReturnType<typeof deferred<string>>;
  const settings = { min_wal_size: '32MB', max_wal_size: '32MB', autovacuum: 'off' };

  beforeEach(async () => {
    disk = (await mountSmallDisk())!;
    ballast = path.join(disk, 'ballast');
    postgres = await startEmbeddedPostgres({ dir: path.join(disk, 'db'), settings });
    gate = deferred<string>();
    lanefold = await createLanefold({
      databaseUrl: postgres.url,
      redisUrl: null,
      queuePrefix: `t${randomBytes(4).toString('hex')}`,
      privateQueue: true,
      migrate: true,
      agents: [defineAgent({ name: 'a', model: 'fake' }), defineAgent({ name: 'echo', model: 'scripted:["fine"]' })],
      models: { fake: fakeModel(async () => ({ text: await gate.promise })) },
    });
    pool = openPool({ connectionString: postgres.url, max: 1 });
  });
  afterEach(async () => {
    if (!disk) return;
    await rm(ballast, { force: true });
    gate?.resolve('too late');
    await lanefold?.close().catch(() => {});
    await pool?.end();
    await postgres?.stop();
    await unmount(disk);
  });

  const fill = async () => {
    const file = await open(ballast, 'a');
    const block = Buffer.alloc(64 * 1024);
    try {
      for (;;) if ((await file.write(block)).bytesWritten < block.length) return;
    } catch (error) {
      expect(error).toMatchObject({ code: 'ENOSPC' });
    } finally {
      await file.close();
    }
  };
  const free = () => rm(ballast);
  const sound = (threadId: string) => expectSound({ ...lanefold, database: { pool } } as TestLanefold, threadId);

  test('rejects writes with a typed error, keeps active runs, and recovers when there is space', async () => {
    await lanefold.startWorker({ leaseMs: 120_000, onError: () => {} });
    const active = await lanefold.runs.enqueue({ agent: 'a', input: 'Write a long letter.' });
    await until('the run is running', async () => (await lanefold.runs.get(active)).status === 'running');
    // a new 16 MB segment leaves space in the write-ahead log but none for tables
    await pool.query('select pg_switch_wal()');
    await pool.query('checkpoint');
    await fill();

    const threads = async () => Number((await pool.query('select count(*) from lanefold.thread')).rows[0].count);
    const before = await threads();
    const rejected = await lanefold.runs
      .enqueue({ agent: 'echo', input: bulky(400_000), threadId: 'new', createThread: true })
      .catch((error: unknown) => error);
    expect(rejected).toMatchObject({ code: 'database_full', status: 503, hint: expect.stringContaining('Free space') });
    expect(await threads()).toBe(before);

    const sent = vi.spyOn(pg.Client.prototype, 'query');
    const commits = () =>
      sent.mock.calls.flatMap(([statement]) => functionsIn(statement)).filter((name) => name === 'commit_step');
    const letter = bulky(400_000);
    gate.resolve(letter);
    await until('its commit is rejected and sent again', () => commits().length > 2);
    sent.mockRestore();
    expect(await lanefold.runs.get(active)).toMatchObject({ status: 'running', error: null });
    expect(await entriesOf(lanefold, active.threadId)).toHaveLength(1);

    await free();
    expect(await lanefold.runs.wait(active)).toMatchObject({ status: 'completed', result: letter });
    await sound(active.threadId);
    const again = await lanefold.runs.enqueue({
      agent: 'echo',
      input: bulky(400_000),
      threadId: 'new',
      createThread: true,
    });
    expect(await lanefold.runs.wait(again)).toMatchObject({ status: 'completed', result: 'fine' });
  });

  test('that stops PostgreSQL loses nothing: after a restart with free space the run continues', async () => {
    await lanefold.startWorker({ leaseMs: 1_000, sweepMs: 200, onError: () => {} });
    const active = await lanefold.runs.enqueue({ agent: 'a', input: 'Write a letter.' });
    await until('the run is running', async () => (await lanefold.runs.get(active)).status === 'running');
    await fill();
    // without space for the next log segment PostgreSQL panics and cannot recover
    await until('PostgreSQL is down', async () => {
      await pool
        .query('select pg_switch_wal() from pg_logical_emit_message(true, $1, $1)', ['x'.repeat(1000)])
        .catch(() => {});
      return !isAlive(postgres.pid);
    });
    const rejected = await lanefold.runs.get(active).catch((error: unknown) => error);
    expect(isLanefoldError(rejected, 'database_unreachable')).toBe(true);

    await free();
    const { port } = postgres;
    postgres = await startEmbeddedPostgres({ dir: path.join(disk, 'db'), port, settings });
    expect(postgres.port).toBe(port);
    gate.resolve('Dear reader');
    expect(await lanefold.runs.wait(active)).toMatchObject({ status: 'completed', result: 'Dear reader' });
    await sound(active.threadId);
  });
});
