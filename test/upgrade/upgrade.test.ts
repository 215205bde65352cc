// @module-tag long
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Lanefold, LanefoldOptions } from 'lanefold';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { schemaVersion } from '../../db/schema/version.ts';
import { packageRoot } from '../../src/common/package-root.ts';
import { migrate } from '../../src/store/schema/migrate.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { noRedis, queueBackend, type TestLanefold } from '../support/lanefold.ts';
import { eventsOf, expectSound, ledgerOf } from '../support/log.ts';
import { until } from '../support/until.ts';

const fixture = path.join(import.meta.dirname, 'fixtures/worker.js');
const releases = path.join(import.meta.dirname, 'releases');
/** Of one database: `schema-4.tgz` is the last package of schema version 4. */
const versions = readdirSync(releases)
  .map((file) => Number(/^schema-(\d+)\.tgz$/.exec(file)?.[1]))
  .filter((version) => version < schemaVersion);

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

  test.each(versions)(
    'from schema %i ends every run once, whichever version enqueued and ran it',
    async (version) => {
      const old = path.join(dir, 'old');
      await mkdir(old);
      execFileSync('tar', ['xzf', path.join(releases, `schema-${version}.tgz`), '-C', old, '--strip-components=1']);
      await symlink(path.join(packageRoot, 'node_modules'), path.join(old, 'node_modules'));
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
          lanefold: { createLanefold: (options: LanefoldOptions) => Promise<Lanefold> };
          options: LanefoldOptions;
        }>;
      };
      const open = async (of: string, more: LanefoldOptions = {}): Promise<Lanefold> => {
        const { lanefold, options } = await upgradeOptions({ package: of, name: 'client', ...common, ...more });
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

      expect(await migrate(database.url)).toEqual({ from: version, to: schemaVersion, status: 'migrated' });
      await startWorker(inject('packageDir'), 'new');
      const after = await open(inject('packageDir'));
      accepted.push(...(await enqueue(before)), ...(await enqueue(after)));
      await until('all runs are in their second round', async () => (await waiting()) === 3 * perClient);
      // the old package, which migrates when it opens, leaves the newer schema alone
      await open(old, { migrate: true });
      expect((await database.pool.query('select lanefold.schema_version() as v')).rows).toEqual([{ v: schemaVersion }]);

      oldWorker.kill('SIGKILL');
      expect(existsSync(gate)).toBe(false);
      await writeFile(gate, '');
      const inspected = { ...after, database } as TestLanefold;
      for (const run of accepted) {
        expect(await after.runs.wait(run, { timeoutMs: 60_000 })).toMatchObject({
          status: 'completed',
          result: 'done',
        });
        const kinds = (await eventsOf(inspected, run.threadId, run.id)).map((event) => event.kind);
        expect(kinds.filter((kind) => kind === 'request_completed')).toHaveLength(1);
        expect((await ledgerOf(inspected, run.threadId)).map((row) => row.status)).toEqual(['ok', 'ok', 'ok']);
        await expectSound(inspected, run.threadId);
      }
    },
    180_000,
  );
});
