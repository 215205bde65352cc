// @module-tag slow
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { startModelServer, type ModelServer } from '../support/openai-server.ts';
import { until } from '../support/until.ts';
import { callCli } from './call-cli.ts';
import { startCli, type CliProcess } from './cli.ts';

const agents = ['--agents', path.resolve('test/cli/fixtures/own-models.ts')];

let database: TestDatabase;
let server: ModelServer;
let env: Record<string, string>;
const started: CliProcess[] = [];
beforeAll(async () => {
  [database, server] = await Promise.all([createDatabase(), startModelServer()]);
  env = { DATABASE_URL: database.url, OWN_MODELS_URL: server.url, OPENAI_BASE_URL: server.url };
});
afterAll(async () => {
  for (const { process } of started) process.kill('SIGKILL');
  await Promise.all(started.map(({ ended }) => ended));
  await server?.close();
  await database?.drop();
});

const start = (...args: string[]): CliProcess => {
  const process = startCli(args, { env });
  started.push(process);
  return process;
};

test('a worker of the command line has the models and prices of its agents file, under a limit in money', async () => {
  const limit = ['budget', '--kind', 'money', '--amount', '1', '--calendar', 'month', '--scope', 'agent=*'];
  expect(await callCli(['limits', 'set', ...limit], { env })).toMatchObject({ code: 0 });
  const [api, worker] = [start('api', ...agents, '--port', '0', '--json'), start('worker', ...agents, '--json')];
  const { url } = JSON.parse(await api.says('stdout', '"ready"')) as { url: string };
  expect(await worker.says('stdout', '"ready"')).toContain('"agents":["support","gateway"]');

  for (const [agent, model] of [
    ['support', 'large'],
    ['gateway', 'served-7b'],
  ] as const) {
    server.reply({ text: `I am ${agent}.`, usage: [1_000, 500] });
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ agent, input: 'Who are you?', create_thread: true });
    const accepted = await fetch(`${url}/v1/threads/of-${agent}/runs`, { method: 'POST', headers, body });
    expect(accepted.status).toBe(202);
    const run = `${url}${accepted.headers.get('location')!}`;
    const ended = await until('the run has ended', async () => {
      const now = (await (await fetch(run)).json()) as { status: string };
      return now.status !== 'queued' && now.status !== 'running' && now;
    });
    expect(ended).toMatchObject({ status: 'completed', result: `I am ${agent}.`, cost: 0.002 });
    expect(server.requests.at(-1)!.body).toMatchObject({ model });
  }
  const { stdout } = await callCli(['limits', 'list', '--json'], { env });
  const { data } = JSON.parse(stdout) as { data: { usage: { key: string; used: number }[] }[] };
  expect(data[0]!.usage.map(({ used }) => used)).toEqual([0.002, 0.002]);
});
