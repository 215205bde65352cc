// @module-tag long
import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { createLanefold, type Lanefold } from 'lanefold';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { asInstalled, cli, cliBin, startCli } from '../cli/cli.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { deferred, until } from '../support/until.ts';
import agents, { gate } from './fixtures/agents.ts';
import { errorOf, newClient, runOf, textOf } from './rig.ts';
import { envelope } from './tasks-client.ts';

const file = path.resolve('test/mcp/fixtures/agents.ts');

describe('lanefold mcp', () => {
  let database: TestDatabase;
  let lanefold: Lanefold;
  beforeAll(async () => {
    database = await createDatabase();
    lanefold = await createLanefold({ databaseUrl: database.url, redisUrl: null, agents });
  });
  afterAll(async () => {
    await lanefold?.close();
    await database?.drop();
  });

  const command = (...options: string[]) => ({
    command: process.execPath,
    args: [cliBin(), 'mcp', '--agents', file, ...options],
    env: { PATH: process.env['PATH']!, DATABASE_URL: database.url, ...asInstalled() },
    stderr: 'ignore' as const,
  });

  type CallTool = (name: string, args: object) => Promise<object>;
  interface Connected {
    callTool: CallTool;
    tools(): Promise<string[]>;
    pid: number;
  }
  const clients: [string, (...options: string[]) => Promise<Connected>][] = [
    [
      '2026-07-28',
      async (...options) => {
        const transport = new StdioClientTransport(command(...options));
        const client = new Client({ name: 'judge', version: '1' }, { versionNegotiation: { mode: 'auto' } });
        await client.connect(transport);
        onTestFinished(() => client.close());
        return {
          callTool: (name, args) => client.callTool({ name, arguments: args as never }),
          tools: async () => (await client.listTools()).tools.map(({ name }) => name),
          pid: transport.pid!,
        };
      },
    ],
    [
      'the first SDK',
      async (...options) => {
        const transport = new OldTransport(command(...options));
        const client = new OldClient({ name: 'judge', version: '1' });
        await client.connect(transport);
        onTestFinished(() => client.close());
        return {
          callTool: (name, args) => client.callTool({ name, arguments: args as never }),
          tools: async () => (await client.listTools()).tools.map(({ name }) => name),
          pid: transport.pid!,
        };
      },
    ],
  ];

  test.each(clients)('%s talks to the command, which executes runs itself with --worker', async (_, connect) => {
    const { callTool, tools } = await connect('--worker', '--tool', 'echo');
    expect((await tools()).slice(0, 2)).toEqual(['echo', 'lanefold_start_run']);
    expect(runOf(await callTool('echo', { message: 'hello' }))).toMatchObject({ status: 'completed' });
  });

  // what a key opens does not depend on the client
  const [[, connectNew]] = clients as [(typeof clients)[number], ...typeof clients];

  test('acts with the rights of --api-key', async () => {
    const { key } = await lanefold.keys.create({ name: 'k', scopes: ['read', 'run'], agents: ['echo'] });
    const { callTool, tools } = await connectNew('--api-key', key);
    expect((await tools())[1]).toBe('lanefold_start_run');
    expect(errorOf(await callTool('thinker', { message: 'x' })).code).toBe('forbidden');
    const stranger = await connectNew('--api-key', 'made up');
    await expect(stranger.tools()).rejects.toMatchObject({ data: { code: 'unauthorized' } });
  });

  test.each(clients)('%s finds its run after the command was killed in the middle of a call', async (era, connect) => {
    const worker = await lanefold.startWorker();
    const thinking = deferred();
    const done = deferred<string>();
    let thoughts = 0;
    gate.pass = () => {
      thoughts += 1;
      thinking.resolve();
      return done.promise;
    };
    try {
      const first = await connect();
      const request = { message: 'think', request_id: `killed-${era.at(-1)}` };
      const lost = first.callTool('thinker', request);
      lost.catch(() => {});
      await thinking.promise;
      process.kill(first.pid, 'SIGKILL');
      await expect(lost).rejects.toThrow();
      const second = await connect();
      const found = second.callTool('thinker', request);
      done.resolve('a thought');
      const { thread_id, run_id, ...run } = runOf(await found);
      expect(run).toMatchObject({ status: 'completed', output: 'thought' });
      expect(runOf(await second.callTool('lanefold_run_result', { thread_id, run_id }))).toMatchObject({ run_id });
      expect((await lanefold.runs.list({ threadId: thread_id })).data).toHaveLength(1);
      expect(thoughts).toBe(1);
    } finally {
      await worker.stop();
    }
  });

  /** The command, as lines of JSON. */
  function startRaw(...options: string[]) {
    const { command: program, args, env } = command(...options);
    const child: ChildProcess = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    const lines: Record<string, unknown>[] = [];
    createInterface({ input: child.stdout! }).on('line', (line) => lines.push(JSON.parse(line) as never));
    let stderr = '';
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    let id = 0;
    return {
      child,
      ended,
      said: () => stderr,
      write: (text: string) => child.stdin!.write(`${text}\n`),
      async request(method: string, params: object = {}) {
        const own = (id += 1);
        const message = { jsonrpc: '2.0', id: own, method, params: { ...params, _meta: envelope() } };
        child.stdin!.write(`${JSON.stringify(message)}\n`);
        return (await until(`${method} is answered`, () => lines.find((line) => line['id'] === own))) as {
          result: Record<string, never>;
        };
      },
    };
  }

  test('a task outlives the command that started it', async () => {
    const worker = await lanefold.startWorker();
    const done = deferred<string>();
    const thinking = deferred();
    gate.pass = () => {
      thinking.resolve();
      return done.promise;
    };
    try {
      const first = startRaw();
      const { result: created } = await first.request('tools/call', { name: 'thinker', arguments: { message: 'go' } });
      expect(created).toMatchObject({ resultType: 'task', status: 'working' });
      first.child.kill('SIGKILL');
      await Promise.all([first.ended, thinking.promise]);
      const second = startRaw();
      const get = async () => (await second.request('tasks/get', { taskId: created['taskId'] })).result;
      expect(await get()).toMatchObject({ status: 'working' });
      done.resolve('a thought');
      const task = await until('it is completed', async () => {
        const now = await get();
        return now['status'] === 'completed' && now;
      });
      expect(runOf((task as { result: never }).result)).toMatchObject({ output: 'thought' });
    } finally {
      await worker.stop();
    }
  });

  test('survives lines that are no JSON, and ends with its client or with a line that is too long', async () => {
    const raw = startRaw();
    raw.write('this is no JSON');
    raw.write('{"neither":"this"}');
    expect((await raw.request('tools/list')).result).toHaveProperty('tools');
    raw.child.stdin!.end();
    expect(await raw.ended).toBe(0);
    const flooded = startRaw();
    await flooded.request('tools/list');
    flooded.child.stdin!.on('error', () => {});
    flooded.write('x'.repeat(11 * 1024 * 1024));
    expect(await flooded.ended).toBe(0);
    expect(flooded.said()).toContain('mcp');
  });

  test('serves over HTTP with --http, and refuses options of the other transport', async () => {
    const env = { DATABASE_URL: database.url };
    const http = startCli(['mcp', '--agents', file, '--http', '--port', '0'], { env });
    const [, url] = /MCP (\S+),/.exec(await http.says('stderr', 'API http'))!;
    const client = await newClient(new URL(url!));
    const started = await client.callTool({ name: 'lanefold_start_run', arguments: { agent: 'echo', message: 'x' } });
    expect(JSON.parse(textOf(started))).toHaveProperty('run_id');
    http.process.kill('SIGTERM');
    expect((await http.ended).code).toBe(0);
    for (const [options, flag] of [
      [['--port', '1'], '--port'],
      [['--http', '--api-key', 'k'], '--api-key'],
    ] as const) {
      const { code, stderr } = await cli(['mcp', '--agents', file, ...options], { env });
      expect([code, stderr]).toEqual([2, expect.stringContaining(flag)]);
    }
  });
});
