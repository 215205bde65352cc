import { chmod, mkdir, mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { startRedis } from '../../src/ops/chaos/services/redis.ts';
import { startEmbeddedPostgres } from '../../src/database/postgres/embedded/index.ts';
import { migrate } from '../../src/database/store/schema/migrate.ts';
import {
  citusFolder,
  closeDatabase,
  createCluster,
  databaseAt,
  startCitus,
  statements,
  type CitusCluster,
} from './citus.ts';
import { buildPackage } from './package.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Superuser URL of the test cluster. */
    postgresUrl: string;
    /** The same, then those of the other nodes where threads are distributed. */
    postgresNodes: string[];
    /** Empty without Redis: the suites of the Redis project are skipped. */
    redisUrl: string;
    /** Folder of the package as users install it, plus the programs that tests start. */
    packageDir: string;
  }
}

export const templateDatabase = 'lanefold_template';

/** Whether the suites work on databases that are distributed over the nodes of a cluster. */
export const onCitus = process.env['LANEFOLD_TEST_DATABASE'] === 'citus';

/**
 * No durability needed: the suites that restart PostgreSQL start their own. Autovacuum would look at one of the hundreds
 * of databases every 100 ms.
 */
async function startOne(dir: string): Promise<CitusCluster> {
  const settings = {
    fsync: 'off',
    full_page_writes: 'off',
    max_connections: '400',
    max_wal_size: '256MB',
    jit: 'off',
    autovacuum_naptime: '1d',
  };
  const { url, stop } = await startEmbeddedPostgres({ dir, settings });
  return { nodes: [url], stop };
}

/**
 * The folder of temporary files: one in memory where there is room for the databases of a run, because a database has 800
 * files, and a copy of them takes a disk ten times as long.
 */
async function scratch(): Promise<string> {
  const memory = '/dev/shm';
  const room = await statfs(memory).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
  return room > 6 * 1024 ** 3 ? memory : tmpdir();
}

/** Starts the servers that all tests share: PostgreSQL with a migrated template database and, if available, Redis. */
export default async function setup(project: TestProject) {
  const dir = await mkdtemp(path.join(await scratch(), 'lanefold-test-'));
  // PostgreSQL and other servers may run as another user
  await chmod(dir, 0o755);
  // what a test leaves goes with the folder of the run
  const temporary = path.join(dir, 'tmp');
  await mkdir(temporary);
  await chmod(temporary, 0o1777);
  const previous = process.env['TMPDIR'];
  process.env['TMPDIR'] = temporary;
  const packageDir = path.join(dir, 'package');
  const [postgres] = await Promise.all([
    onCitus ? startCitus(path.join(dir, 'citus')) : startOne(dir),
    buildPackage(packageDir),
  ]);
  const [postgresUrl] = postgres.nodes as [string];
  if (onCitus) {
    await migrate(await createCluster(postgres.nodes, templateDatabase));
    await closeDatabase(postgres.nodes, templateDatabase);
  } else {
    await statements(postgresUrl, `create database ${templateDatabase}`);
    await migrate(databaseAt(postgresUrl, templateDatabase));
  }

  const redis = process.env['REDIS_URL'] ? undefined : await startRedis(dir);
  const redisUrl = process.env['REDIS_URL'] ?? redis?.url ?? '';
  if (!redisUrl)
    console.log(
      'No Redis found (REDIS_URL, or a redis-server on the PATH): the suites of the Redis queue are skipped.',
    );
  if (!citusFolder) console.log('No Citus found (LANEFOLD_CITUS): the suite of distributed databases is skipped.');
  project.provide('postgresUrl', postgresUrl);
  project.provide('postgresNodes', postgres.nodes);
  project.provide('redisUrl', redisUrl);
  project.provide('packageDir', packageDir);

  return async () => {
    await redis?.stop();
    await postgres.stop();
    if (previous === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = previous;
    await rm(dir, { recursive: true, force: true });
  };
}
