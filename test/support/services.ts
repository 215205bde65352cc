import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { startRedis } from '../../src/chaos/services/redis.ts';
import { startEmbeddedPostgres } from '../../src/postgres/embedded/index.ts';
import { migrate } from '../../src/store/schema/migrate.ts';
import { buildPackage } from './package.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Superuser URL of the test cluster. */
    postgresUrl: string;
    /** Empty without Redis: the suites of the Redis project are skipped. */
    redisUrl: string;
    /** Folder of the package as users install it, plus the programs that tests start. */
    packageDir: string;
  }
}

export const templateDatabase = 'lanefold_template';

/** Starts the servers that all tests share: PostgreSQL with a migrated template database and, if available, Redis. */
export default async function setup(project: TestProject) {
  const dir = await mkdtemp(path.join(tmpdir(), 'lanefold-test-'));
  // PostgreSQL and other servers may run as another user
  await chmod(dir, 0o755);
  // no durability needed: the suites that restart PostgreSQL start their own
  const postgres = await startEmbeddedPostgres({ dir, settings: { fsync: 'off', max_connections: '400' } });
  const admin = new pg.Client({ connectionString: postgres.url });
  await admin.connect();
  await admin.query(`create database ${templateDatabase}`);
  await admin.end();
  const url = new URL(postgres.url);
  url.pathname = `/${templateDatabase}`;
  await migrate(url.href);

  const redis = process.env['REDIS_URL'] ? undefined : await startRedis(dir);
  const redisUrl = process.env['REDIS_URL'] ?? redis?.url ?? '';
  if (!redisUrl)
    console.log(
      'No Redis found (REDIS_URL, or a redis-server on the PATH): the suites of the Redis queue are skipped.',
    );
  project.provide('postgresUrl', postgres.url);
  project.provide('redisUrl', redisUrl);

  const packageDir = path.join(dir, 'package');
  await buildPackage(packageDir);
  project.provide('packageDir', packageDir);

  return async () => {
    await redis?.stop();
    await postgres.stop();
    await rm(dir, { recursive: true, force: true });
  };
}
