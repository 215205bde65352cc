// @module-tag long
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createLanefold, type Lanefold } from 'lanefold';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';
import { callCli } from './call-cli.ts';
import { startCli, type CliProcess } from './cli.ts';
import agents from './fixtures/agents.ts';

const file = path.resolve('test/cli/fixtures/agents.ts');

describe('worker', () => {
  let database: TestDatabase;
  let lanefold: Lanefold;
  let started: CliProcess[] = [];
  beforeAll(async () => {
    database = await createDatabase();
    lanefold = await createLanefold({ databaseUrl: database.url, redisUrl: null, agents });
  });
  afterEach(async () => {
    for (const worker of started) worker.process.kill('SIGKILL');
    await Promise.all(started.map((worker) => worker.ended));
    started = [];
  });
  afterAll(async () => {
    await lanefold.close();
    await database.drop();
  });

  const startWorker = async (...options: string[]): Promise<CliProcess> => startWorkerWith({}, ...options);
  const startWorkerWith = async (env: Record<string, string>, ...options: string[]): Promise<CliProcess> => {
    const worker = startCli(['worker', '--agents', file, ...options], { env: { DATABASE_URL: database.url, ...env } });
    started.push(worker);
    await worker.says(options.includes('--json') ? 'stdout' : 'stderr', 'ready');
    return worker;
  };
  const lines = (worker: CliProcess) =>
    worker
      .said()
      .stdout.trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { event: string });

  test('executes runs, prints a line for each and stops on a signal', async () => {
    const worker = await startWorker();
    const run = await lanefold.runs.enqueue({ agent: 'guide', input: 'How is the weather in Oslo?' });
    const { status, result } = await lanefold.runs.wait(run);
    expect([status, result]).toEqual(['completed', 'Here is what I found: weather says Oslo: sunny.']);
    await worker.says('stdout', run.id);
    worker.process.kill('SIGTERM');
    const { code, stdout, stderr } = await worker.ended;
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^\\S+Z completed guide ${run.threadId} ${run.id} \\d+ ms\n$`));
    expect(stderr).toContain('stopped\n');
  });

  test('is in the list of workers: alive, stopped, or dead where it was killed', async () => {
    const list = async (...more: string[]) => {
      const listed = await callCli(['workers', ...more], { env: { DATABASE_URL: database.url } });
      expect(listed.code).toBe(0);
      return listed;
    };
    await database.pool.query('delete from lanefold._worker');
    expect(await list()).toMatchObject({ stdout: '', stderr: 'no worker is alive to take runs\n' });
    const [stops, dies] = [await startWorker('--json'), await startWorker('--json')];
    expect(await list()).toMatchObject({ stderr: '2 alive, 0 busy\n' });
    stops.process.kill('SIGTERM');
    await stops.ended;
    dies.process.kill('SIGKILL');
    await dies.ended;
    await until('the killed worker is dead', async () => (await lanefold.stats()).fleet.dead === 1);
    const { stdout, stderr } = await list();
    expect(stderr).toBe('no worker is alive to take runs\n');
    const idOf = (worker: CliProcess) => (lines(worker)[0] as unknown as { worker_id: string }).worker_id;
    const row = (worker: CliProcess, state: string) =>
      new RegExp(`^${idOf(worker)} +\\S+:${worker.process.pid} .* guide, slow, stuck +0 of 20 +\\S+Z +${state}$`, 'm');
    expect(stdout).toMatch(row(stops, 'stopped'));
    expect(stdout).toMatch(row(dies, 'dead'));
    const { data } = JSON.parse((await list('--json')).stdout) as { data: { id: string }[] };
    expect(data.find(({ id }) => id === idOf(dies))).toMatchObject({ state: 'dead', runs_held: 0, stopped_at: null });
  });

  test('logs JSON lines with the ids of its runs, and nothing else, where it is asked to', async () => {
    const worker = await startWorkerWith({ LANEFOLD_LOG: 'json' });
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const run = await lanefold.runs.enqueue({ agent: 'guide', input: 'How is the weather in Oslo?', traceparent });
    await worker.says('stderr', 'run completed');
    worker.process.kill('SIGTERM');
    const { code, stdout, stderr } = await worker.ended;
    expect([code, stdout]).toEqual([0, '']);
    const logged = stderr
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const ids = { thread_id: run.threadId, run_id: run.id, trace_id: '0af7651916cd43dd8448eb211c80319c' };
    expect(logged).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ level: 'info', msg: 'worker started', service: 'lanefold' }),
        expect.objectContaining({ level: 'info', msg: 'run started', ...ids, agent: 'guide' }),
        expect.objectContaining({ level: 'info', msg: 'run completed', ...ids, duration_ms: expect.any(Number) }),
        expect.objectContaining({ level: 'info', msg: 'worker stopped', released: 0 }),
      ]),
    );
    for (const line of logged) expect(line).toMatchObject({ level: 'info', time: expect.stringMatching(/^\d.*Z$/) });
  });

  test('prints no line for a run if its log is to be silent', async () => {
    const worker = await startWorkerWith({ LANEFOLD_LOG_LEVEL: 'silent' });
    const run = await lanefold.runs.enqueue({ agent: 'guide', input: 'How is the weather in Oslo?' });
    expect((await lanefold.runs.wait(run)).status).toBe('completed');
    worker.process.kill('SIGTERM');
    const { code, stdout, stderr } = await worker.ended;
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).not.toContain(run.id);
  });

  test('SIGTERM lets active runs end', async () => {
    const worker = await startWorker('--json');
    const run = await lanefold.runs.enqueue({ agent: 'slow', input: 'hello' });
    await until('the run is at work', async () => (await lanefold.runs.get(run)).status === 'running');
    worker.process.kill('SIGTERM');
    expect((await worker.ended).code).toBe(0);
    expect((await lanefold.runs.get(run)).result).toBe('late');
    expect(lines(worker)).toMatchObject([
      { event: 'ready', agents: ['guide', 'slow', 'stuck'], queue: 'postgres' },
      { event: 'stopping', signal: 'SIGTERM', active: 1 },
      { event: 'run_ended', thread_id: run.threadId, run_id: run.id, agent: 'slow', status: 'completed' },
      { event: 'stopped', released: 0 },
    ]);
  });

  test('--until-idle does what is due, and exits', async () => {
    const run = await lanefold.runs.enqueue({ agent: 'guide', input: 'How is the weather in Oslo?' });
    const worker = await startWorker('--json', '--until-idle');
    expect((await worker.ended).code).toBe(0);
    expect((await lanefold.runs.get(run)).status).toBe('completed');
    expect(lines(worker)).toMatchObject([
      { event: 'ready' },
      { event: 'run_ended', run_id: run.id, status: 'completed' },
      { event: 'stopping', reason: 'idle', active: 0 },
      { event: 'stopped', released: 0 },
    ]);
  });

  test('--max-seconds releases what has not ended by then', async () => {
    const run = await lanefold.runs.enqueue({ agent: 'stuck', input: 'hello' });
    const worker = await startWorker('--json', '--until-idle', '--max-seconds', '4', '--grace', '0');
    expect((await worker.ended).code).toBe(0);
    // a slow start leaves no time to take the run
    const [, stopping, stopped] = lines(worker) as [unknown, { active: number }, unknown];
    expect(stopping).toMatchObject({ event: 'stopping', reason: 'time_over' });
    expect(stopped).toEqual({ event: 'stopped', released: stopping.active });
    expect((await lanefold.runs.get(run)).status).toBe('queued');
    await lanefold.runs.cancel(run);
  });

  test('serves probes, of which only readiness fails while it stops', async () => {
    const worker = await startWorker('--json', '--health-port', '0');
    const { health_port: port } = lines(worker)[0] as unknown as { health_port: number };
    const probe = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      return [response.status, await response.json()];
    };
    expect(await probe('/livez')).toEqual([200, { status: 'ok' }]);
    expect(await probe('/readyz')).toEqual([200, { status: 'ok' }]);
    expect(await probe('/')).toEqual([404, { status: 'not_found' }]);
    const metrics = await fetch(`http://127.0.0.1:${port}/metrics`);
    expect([metrics.status, metrics.headers.get('content-type')]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
    ]);
    expect(await metrics.text()).toContain('lanefold_worker_runs_ended_total{agent="guide",status="completed"} 0\n');
    const run = await lanefold.runs.enqueue({ agent: 'stuck', input: 'hello' });
    await until('the run is at work', async () => (await lanefold.runs.get(run)).status === 'running');
    worker.process.kill('SIGTERM');
    await worker.says('stdout', 'stopping');
    expect(await probe('/livez')).toEqual([200, { status: 'ok' }]);
    expect(await probe('/readyz')).toEqual([
      503,
      { status: 'not_ready', reasons: expect.arrayContaining(['stopping']) },
    ]);
    await lanefold.runs.cancel(run);
    expect((await worker.ended).code).toBe(0);
  });

  test('releases its runs after the grace period and exits with 0', async () => {
    const worker = await startWorker('--json', '--grace', '0');
    const run = await lanefold.runs.enqueue({ agent: 'stuck', input: 'hello' });
    await until('the run is at work', async () => (await lanefold.runs.get(run)).status === 'running');
    worker.process.kill('SIGTERM');
    expect((await worker.ended).code).toBe(0);
    expect(lines(worker).at(-1)).toEqual({ event: 'stopped', released: 1 });
    expect((await lanefold.runs.get(run)).status).toBe('queued');
    await lanefold.runs.cancel(run);
  });

  test('exits immediately on a second signal and leaves the run to others', async () => {
    const worker = await startWorker('--json');
    const run = await lanefold.runs.enqueue({ agent: 'stuck', input: 'hello' });
    await until('the run is at work', async () => (await lanefold.runs.get(run)).status === 'running');
    worker.process.kill('SIGINT');
    await worker.says('stdout', 'stopping');
    worker.process.kill('SIGTERM');
    expect((await worker.ended).code).toBe(143);
    expect((await lanefold.runs.get(run)).status).toBe('running');
    await lanefold.runs.cancel(run);
  });
});
