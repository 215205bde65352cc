// @module-tag long
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { spawnSync } from 'node:child_process';
import { createLanefold, type RunRef } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { startModelServer } from '../support/openai-server.ts';
import { until } from '../support/until.ts';
import { callCli } from './call-cli.ts';
import { cli, startCli } from './cli.ts';

describe('run, thread and context', () => {
  let database: TestDatabase;
  let env: Record<string, string>;
  beforeAll(async () => {
    database = await createDatabase();
    env = { DATABASE_URL: database.url };
  });
  afterAll(() => database.drop());

  /** The queues that BullMQ still has for the command that made a run. */
  const queuesOf = async (run: RunRef): Promise<unknown[]> => {
    const { rows } = await database.pool.query(
      `select distinct queue from (select queue from bullmq.job union all select queue from bullmq.meta) queue
         join lanefold._run run on starts_with(queue, run.queue_prefix)
       where run.id = $1 and run.thread_id = $2`,
      [run.id, run.threadId],
    );
    return rows;
  };

  test('the built-in assistant works offline and says so', async () => {
    const { code, stdout, stderr } = await cli(['run', 'What is 12 * (3 + 4)?'], { env });
    expect([code, stdout]).toEqual([
      0,
      'Here is what I found: calculator says {"expression":"12 * (3 + 4)","value":84}.\n',
    ]);
    expect(stderr).toContain('scripted:demo');
    expect(stderr).not.toContain('\u001b');
  });

  test('a strategy with options: its answer, and what it found as a tree', { tags: 'slow' }, async () => {
    const tree = ['--strategy', 'tot', '--model', `scripted:${JSON.stringify(['1. 0.4\n2. 0.7'])}`];
    const options = ['--strategy-options', '{"maxDepth": 1}'];
    const { code, stdout } = await callCli(['run', 'Which?', ...tree, ...options, '--tree'], { env });
    expect([code, stdout]).toEqual([0, 'question\n  3 (0.40) 0.4\n  4 (0.70 best) 0.7\n0.7\n']);
    const wrong = await callCli(['run', 'Which?', ...tree, '--strategy-options', '{"maxDepht": 1}'], { env });
    expect(wrong.code).not.toBe(0);
    expect(wrong.stderr).toContain('invalid_strategy_options');
  });

  test(
    'a Google model answers through its own protocol, at the base URL from the environment',
    { tags: 'slow' },
    async () => {
      const server = await startModelServer();
      try {
        server.reply({ toolCalls: [{ name: 'calculator', arguments: '{"expression":"6*7"}' }] }, { text: 'It is 42.' });
        const { code, stdout } = await callCli(['run', 'What is 6 * 7?', '--model', 'google:gemini-3-pro'], {
          env: { ...env, GOOGLE_GENERATIVE_AI_BASE_URL: server.url, GOOGLE_GENERATIVE_AI_API_KEY: 'test' },
        });
        expect([code, stdout]).toEqual([0, 'It is 42.\n']);
        expect(server.requests.map((request) => request.url)).toEqual(
          Array(2).fill('/v1/models/gemini-3-pro:streamGenerateContent?alt=sse'),
        );
      } finally {
        await server.close();
      }
    },
  );

  test('--image sends files and URLs to the model', { tags: 'slow' }, async () => {
    const server = await startModelServer();
    const folder = mkdtempSync(path.join(tmpdir(), 'lanefold-image-'));
    try {
      const png = 'iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAYAAAC56t6BAAAAAElFTkSuQmCC';
      writeFileSync(path.join(folder, 'dot.png'), Buffer.from(png, 'base64'));
      const url = 'https://example.com/a.jpg';
      server.reply({ text: 'Dots.' });
      const images = ['--image', path.join(folder, 'dot.png'), '--image', url];
      const { code, stdout } = await callCli(['run', 'What is it?', ...images, '--model', 'openai-compatible:m'], {
        env: { ...env, OPENAI_BASE_URL: server.url },
      });
      expect([code, stdout]).toEqual([0, 'Dots.\n']);
      const { messages } = server.requests[0]!.body as { messages: { role: string; content: unknown }[] };
      expect(messages.find(({ role }) => role === 'user')!.content).toMatchObject([
        { type: 'text', text: 'What is it?' },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
        { type: 'image_url', image_url: { url } },
      ]);
    } finally {
      await server.close();
      rmSync(folder, { recursive: true });
    }
  });

  test('--json prints the run and nothing else', async () => {
    const { code, stdout } = await callCli(
      ['run', 'hello', '--model', 'scripted:["hi"]', '--thread', 'json-1', '--json'],
      {
        env,
      },
    );
    expect([code, JSON.parse(stdout)]).toMatchObject([
      0,
      {
        thread_id: 'json-1',
        agent: 'assistant',
        status: 'completed',
        termination_reason: 'final_answer',
        result: 'hi',
        error: null,
      },
    ]);
  });

  test('a second run continues the thread; its log and context can be read', async () => {
    const script =
      'scripted:[{"tools":[{"tool":"calculator","args":{"expression":"2^10"}}],"text":"Let me see."},"1024"]';
    await callCli(['run', 'What is\n2^10?', '--thread', 'talk', '--system', 'Be brief.', '--model', script], { env });
    const second = await callCli(['run', 'again', '--thread', 'talk', '--model', 'scripted:echo'], { env });
    expect(second.stdout).toBe('again\n');

    const thread = await callCli(['thread', 'talk'], { env });
    expect(thread.stdout.split('\n').map((line) => line.trim())).toEqual([
      'thread talk: 7 entries, lane default',
      '0  ai_config_change  {"field":"system_prompt","value":"Be brief."}',
      '1  user  What is 2^10?',
      '2  assistant  Let me see. → calculator({"expression":"2^10"})',
      '3  tool  ← calculator {"expression":"2^10","value":1024}',
      '4  assistant  1024',
      '5  user  again',
      '6  assistant  again',
      '',
    ]);
    const page = await callCli(['thread', 'talk', '--after', '3', '--limit', '2', '--json'], { env });
    expect(JSON.parse(page.stdout)).toMatchObject({
      thread: { id: 'talk', rev: 7, active_context_ref: 'default' },
      entries: [{ seq: 4, role: 'assistant', context_ref: 'default', payload: { content: '1024' } }, { seq: 5 }],
    });
    const more = await callCli(['thread', 'talk', '--limit', '2'], { env });
    expect(more.stderr).toBe('more: --after 1\n');

    const context = await callCli(['context', 'talk', '--at', '3'], { env });
    expect(context.stdout).toBe(
      [
        'thread talk, lane default, after entry 3: 4 messages\n',
        'system #0\n  Be brief.\n',
        'user #1\n  What is\n  2^10?\n',
        'assistant #2\n  Let me see.\n  → calculator({"expression":"2^10"})\n',
        'tool #3 call_1\n  ← calculator\n  {"expression":"2^10","value":1024}\n',
      ].join('\n'),
    );
    const now = await callCli(['context', 'talk', '--json', '--lane', 'default'], { env });
    const { messages, ...head } = JSON.parse(now.stdout) as { messages: { role: string }[] };
    expect(head).toEqual({ thread_id: 'talk', context_ref: 'default', at_seq: null });
    expect(messages.map((message) => message.role).join(' ')).toBe(
      'system user assistant tool assistant user assistant',
    );

    const late = await callCli(['run', 'hi', '--thread', 'talk', '--system', 'Be long.'], { env });
    expect([late.code, late.stderr]).toEqual([2, expect.stringContaining('Thread talk already exists')]);
  });

  test('a failed run exits with 1 and says why', async () => {
    const model = 'anthropic:claude-test';
    const nowhere = { ...env, ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' };
    const agents = path.resolve('test/cli/fixtures/impatient.ts');
    const { code, stdout, stderr } = await callCli(['run', 'hi', '--agents', agents, '--model', model, '--json'], {
      env: nowhere,
    });
    expect([code, JSON.parse(stdout)]).toMatchObject([
      1,
      { status: 'failed', result: null, error: { type: expect.any(String) as string } },
    ]);
    expect(stderr).toMatch(/^lanefold: The run failed: .+ \[\w+\]$/m);
  });

  test('a run that reaches its limit prints no answer, exits with 1 and says why', { tags: 'slow' }, async () => {
    const model = 'scripted:[{"tool": "calculator", "args": {"expression": "1 + 1"}}]';
    const asked = await callCli(['run', 'Loop.', '--model', model, '--thread', 'limited'], { env });
    expect([asked.code, asked.stdout]).toEqual([1, '']);
    expect(asked.stderr).toMatch(/^lanefold: The run ended without an answer: max_iterations \[completed\]$/m);
    const runs = await callCli(['runs', 'limited', '--json'], { env });
    const { data } = JSON.parse(runs.stdout) as { data: { id: string }[] };
    expect(data).toMatchObject([{ status: 'completed', termination_reason: 'max_iterations', result: null }]);
    const tail = await callCli(['tail', 'limited', data[0]!.id], { env });
    expect(tail.stdout).toMatch(/^completed without an answer \(max_iterations\), \d+ tokens$/m);
    const next = await callCli(['run', 'Again.', '--model', 'scripted:["done"]', '--thread', 'limited'], { env });
    expect([next.code, next.stdout]).toEqual([0, 'done\n']);
  });

  test(
    'a search without an answer prints what the model wrote, or that there is none, never JSON',
    { tags: 'slow' },
    async () => {
      const open = ['--strategy', 'aot', '--strategy-options', '{"requireExplicitAnswer": false}'];
      const found = await callCli(['run', 'x', ...open, '--model', 'scripted:["Solution found."]'], { env });
      expect([found.code, found.stdout]).toEqual([0, 'Solution found.\n']);
      const folder = mkdtempSync(path.join(tmpdir(), 'lanefold-limited-'));
      try {
        writeFileSync(
          path.join(folder, 'agents.mjs'),
          `export default [{ name: 'a', model: 'scripted:echo?latency_ms=60000', strategy: 'aot', maxDurationMs: 1 }];`,
        );
        const none = await callCli(['run', 'x', '--agents', 'agents.mjs'], { cwd: folder, env });
        expect([none.code, none.stdout]).toEqual([1, '']);
        expect(none.stderr).toMatch(/^lanefold: The run ended without an answer: max_duration \[completed\]$/m);
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  );

  test('--busy says what becomes of a run that is active on the thread', { tags: 'slow' }, async () => {
    const lanefold = await createLanefold({
      databaseUrl: database.url,
      redisUrl: null,
      agents: [{ name: 'assistant', model: 'scripted:echo' }],
    });
    try {
      const first = await lanefold.runs.enqueue({
        agent: 'assistant',
        input: 'x',
        threadId: 'taken',
        createThread: true,
      });
      const ask = (...args: string[]) =>
        callCli(['run', 'hi', '--thread', 'taken', '--model', 'scripted:echo', ...args], { env });
      expect(await ask()).toMatchObject({ code: 1, stderr: expect.stringContaining('thread_busy') as string });
      expect(await ask('--busy', 'interrupt')).toMatchObject({ code: 0, stdout: 'hi\n' });
      expect(await lanefold.runs.get(first)).toMatchObject({ status: 'cancelled' });
      expect(await ask('--busy', 'queue')).toMatchObject({ code: 2 });
    } finally {
      await lanefold.close();
    }
  });

  test('a run that a killed command has left is ended by the next one', { tags: 'slow' }, async () => {
    const lanefold = await createLanefold({ databaseUrl: database.url, redisUrl: null });
    try {
      const agents = path.resolve('test/cli/fixtures/agents.ts');
      const left = (threadId: string) =>
        startCli(['run', 'hi', '--agents', agents, '--agent', 'stuck', '--thread', threadId, '--json'], { env });
      const started = (threadId: string) =>
        until('the run is at work', async () => {
          const found = await lanefold.runs.list({ threadId, status: 'running' }).catch(() => undefined);
          return found?.data[0];
        });
      const [killed, alive] = [left('killed'), left('alive')];
      const runs = [await started('killed'), await started('alive')] as const;
      killed.process.kill('SIGKILL');
      await killed.ended;
      // the thread is busy until another command connects
      const next = await createLanefold({ databaseUrl: database.url, redisUrl: null });
      await next.close();
      expect(await lanefold.runs.get(runs[0])).toMatchObject({ status: 'cancelled', error: { message: 'abandoned' } });
      expect(await lanefold.runs.get(runs[1])).toMatchObject({ status: 'running' });
      alive.process.kill('SIGINT');
      await alive.ended;
      expect(await queuesOf(runs[1])).toEqual([]);
    } finally {
      await lanefold.close();
    }
  });

  // SIGTERM is handled as SIGINT is, and ends the workers of other tests
  test.each(['SIGINT', 'SIGHUP'] as const)(
    '%s cancels the run and frees its thread',
    { tags: 'slow' },
    async (signal) => {
      const lanefold = await createLanefold({ databaseUrl: database.url, redisUrl: null });
      try {
        const agents = path.resolve('test/cli/fixtures/agents.ts');
        const threadId = `left-${signal}`;
        const { process, ended } = startCli(
          ['run', 'hi', '--agents', agents, '--agent', 'stuck', '--thread', threadId, '--json'],
          { env },
        );
        const run = await until('the run is at work', async () => {
          const { data } = await lanefold.runs.list({ threadId });
          const [found] = data;
          return found?.status === 'running' ? found : undefined;
        });
        process.kill(signal);
        const { code, stdout, stderr } = await ended;
        expect([code, JSON.parse(stdout)]).toMatchObject([1, { id: run.id, status: 'cancelled' }]);
        expect(stderr).toContain(`${signal}: cancelling the run\n`);
        expect((await lanefold.threads.get(threadId)).activeRunId).toBeNull();
        expect(await queuesOf(run)).toEqual([]);
      } finally {
        await lanefold.close();
      }
    },
  );

  test.each([
    [['run', 'hi', '--model', 'nope:x'], 2, 'unknown_model'],
    [['run', 'hi', '--model', 'google:gemini-x'], 2, 'missing_provider_key'],
    [['run', '  '], 2, 'empty_content'],
    [['run', 'hi', '--agent', 'nobody'], 2, 'usage'],
    [['run', 'hi', '--thread', 'a b'], 2, 'invalid_id'],
    [['api', '--port', '99999'], 2, 'usage'],
    [['thread', 'nobody'], 1, 'thread_not_found'],
    [['context', 'nobody', '--lane', 'other'], 1, 'thread_not_found'],
  ])('%j exits with %i, %s', async (args, exit, error) => {
    const { code, stdout, stderr } = await callCli(args, { env: { ...env, GOOGLE_GENERATIVE_AI_API_KEY: '' } });
    expect([code, stdout]).toEqual([exit, '']);
    expect(stderr).toMatch(new RegExp(`^lanefold: .+ \\[${error}\\]\nhint: .+\n$`, 'm'));
  });

  test('an unreachable database is reported in one line, without a stack', async () => {
    const { code, stderr } = await callCli(['thread', 't', '--database-url', 'postgresql://nobody@127.0.0.1:1/none']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^lanefold: Cannot reach PostgreSQL: .*\[database_unreachable\]\nhint: .*\n$/);
  });
});

describe('without DATABASE_URL', () => {
  let cwd: string;
  beforeAll(() => {
    cwd = mkdtempSync(path.join(tmpdir(), 'lanefold-cli-'));
    // When the tests run as root, PostgreSQL runs as another user.
    chmodSync(cwd, 0o755);
  });
  afterAll(() => rmSync(cwd, { recursive: true, force: true }));

  test(
    'run starts PostgreSQL in the folder and keeps its data; read commands report that none is running',
    { tags: 'slow' },
    async () => {
      const first = await callCli(['run', 'one', '--thread', 'kept', '--model', 'scripted:echo'], { cwd });
      expect([first.code, first.stdout]).toEqual([0, 'one\n']);
      expect(first.stderr).toContain('starting PostgreSQL in .lanefold\n');
      for (const command of ['thread', 'context']) {
        const { code, stdout, stderr } = await callCli([command, 'kept'], { cwd });
        expect([code, stdout]).toEqual([1, '']);
        expect(stderr).toMatch(
          /^lanefold: No database is configured or running in \.lanefold\. \[database_unreachable\]\nhint: .+\n$/,
        );
      }
      const second = await callCli(['run', 'two', '--thread', 'kept', '--model', 'scripted:echo', '--json'], { cwd });
      expect(JSON.parse(second.stdout)).toMatchObject({ thread_id: 'kept', result: 'two' });
    },
  );

  test('commands started together in an empty folder share one PostgreSQL', { tags: 'slow' }, async () => {
    const folder = path.join(cwd, 'together');
    mkdirSync(folder);
    const asked = ['one', 'two'].map((question) => cli(['run', question, '--model', 'scripted:echo'], { cwd: folder }));
    const results = await Promise.all(asked);
    expect(results.map(({ code, stdout }) => [code, stdout])).toEqual([
      [0, 'one\n'],
      [0, 'two\n'],
    ]);
  });

  test('a worker continues when the command that started PostgreSQL has ended', { tags: 'slow' }, async () => {
    const folder = path.join(cwd, 'outlived');
    mkdirSync(folder);
    const first = startCli(['api', '--port', '0'], { cwd: folder });
    await first.says('stderr', 'page and API');
    const worker = startCli(['worker'], { cwd: folder });
    await worker.says('stderr', 'ready');
    const server = () => JSON.parse(readFileSync(path.join(folder, '.lanefold/running.json'), 'utf8')) as object;
    const before = server();
    first.process.kill('SIGTERM');
    expect((await first.ended).code).toBe(0);
    const { code, stdout } = await callCli(['run', 'still there?', '--model', 'scripted:echo'], { cwd: folder });
    expect([code, stdout]).toEqual([0, 'still there?\n']);
    expect(server()).toEqual(before);
    worker.process.kill('SIGTERM');
    expect((await worker.ended).code).toBe(0);
    expect(worker.said().stderr).not.toMatch(/error|terminated|ECONN/i);
  });

  test('the command works through a link in node_modules/.bin', () => {
    const link = path.join(cwd, 'lanefold');
    symlinkSync(path.resolve('src/ops/cli/bin.js'), link);
    const { status, stdout } = spawnSync(link, ['--version'], { cwd, encoding: 'utf8' });
    expect([status, stdout]).toEqual([0, expect.stringMatching(/^\d/)]);
  });
});
