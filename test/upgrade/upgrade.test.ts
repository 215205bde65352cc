// @module-tag long
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Lanefold, LanefoldOptions } from 'lanefold';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { noRedis, queueBackend, type TestLanefold } from '../support/lanefold.ts';
import { eventsOf, expectSound, ledgerOf } from '../support/log.ts';
import { until } from '../support/until.ts';
import { upgradeFrom, versions } from './packages.ts';

const fixture = path.join(import.meta.dirname, 'fixtures/worker.js');
const perClient = 3;

describe.skipIf(noRedis())('an upgrade with runs in flight', () => {
  let dir: string;
  let database: TestDatabase;
  let processes: ChildProcess[];
  let clients: Lanefold[];
  beforeEach(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'lanefold-upgrade-'));
    database = await createDatabase({ empty: true });
    [processes, clients] = [[], []];
  });
  afterEach(async () => {
    for (const child of processes) child.kill('SIGKILL');
    for (const client of clients) await client.close();
    await database.drop();
    await rm(dir, { recursive: true, force: true });
  });

  test.each(versions)('from schema %i ends every run once, whichever version enqueued and ran it', async (version) => {
    const { old, next, to } = await upgradeFrom(version, dir, inject('packageDir'));
    const gate = path.join(dir, 'gate');
    const common: LanefoldOptions & Record<string, unknown> = {
      support: inject('packageDir'),
      gate,
      databaseUrl: database.url,
      redisUrl: queueBackend() === 'redis' ? inject('redisUrl') : null,
      queuePrefix: `t${randomBytes(4).toString('hex')}`,
    };
    const { upgradeOptions } = (await import(fixture)) as {
      upgradeOptions: (of: object) => Promise<{
        lanefold: {
          createLanefold: (options: LanefoldOptions) => Promise<Lanefold>;
          migrate: (url: string) => Promise<object>;
        };
        options: LanefoldOptions;
      }>;
    };
    const load = (of: string, more: LanefoldOptions = {}) =>
      upgradeOptions({ package: of, name: 'client', ...common, ...more });
    const open = async (of: string, more?: LanefoldOptions): Promise<Lanefold> => {
      const { lanefold, options } = await load(of, more);
      const client = await lanefold.createLanefold(options);
      clients.push(client);
      return client;
    };
    const startWorker = async (of: string, name: string): Promise<ChildProcess> => {
      const child = spawn(process.execPath, [fixture], {
        env: { ...process.env, UPGRADE_WORKER: JSON.stringify({ package: of, name, ...common }) },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      processes.push(child);
      let said = '';
      child.stdout!.on('data', (text: Buffer) => (said += text.toString()));
      await until('the worker is ready', () => said.includes('ready'));
      return child;
    };
    const enqueue = (client: Lanefold) =>
      Promise.all(Array.from({ length: perClient }, () => client.runs.enqueue({ agent: 'upgraded', input: 'go' })));
    const waiting = async () =>
      Number(
        (
          await database.pool.query(
            'select count(distinct run_id) from lanefold.run_tool_call where round = 2 and result_seq is null',
          )
        ).rows[0].count,
      );

    const before = await open(old, { migrate: true });
    expect((await database.pool.query('select lanefold.schema_version() as v')).rows).toEqual([{ v: version }]);
    const oldWorker = await startWorker(old, 'old');
    const accepted = await enqueue(before);
    await until('the runs are in their second round', async () => (await waiting()) === perClient);

    await expect(open(next)).rejects.toMatchObject({ code: 'database_outdated' });
    const { migrate } = (await load(next)).lanefold;
    expect(await migrate(database.url)).toEqual({ from: version, to, status: 'migrated' });
    await startWorker(next, 'new');
    const after = await open(next);
    accepted.push(...(await enqueue(before)), ...(await enqueue(after)));
    await until('all runs are in their second round', async () => (await waiting()) === 3 * perClient);
    // the old package, which migrates when it opens, leaves the newer schema alone
    await open(old, { migrate: true });
    expect((await database.pool.query('select lanefold.schema_version() as v')).rows).toEqual([{ v: to }]);

    oldWorker.kill('SIGKILL');
    expect(existsSync(gate)).toBe(false);
    await writeFile(gate, '');
    const inspected = { ...after, database } as TestLanefold;
    for (const run of accepted) {
      expect(await after.runs.wait(run)).toMatchObject({
        status: 'completed',
        result: 'done',
      });
      const kinds = (await eventsOf(inspected, run.threadId, run.id)).map((event) => event.kind);
      expect(kinds.filter((kind) => kind === 'request_completed')).toHaveLength(1);
      expect((await ledgerOf(inspected, run.threadId)).map((row) => row.status)).toEqual(['ok', 'ok', 'ok']);
      await expectSound(inspected, run.threadId);
    }
  });
});
