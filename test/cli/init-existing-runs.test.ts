// @module-tag long
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { spawn, type ChildProcess } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';
import { cli, startCli, withoutOurs, type CliProcess } from './cli.ts';
import { known, projects, writeProject, type Files } from './existing-projects.ts';

const hono = `import { serve } from '@hono/node-server';\n`;
const said = `({ port }) => console.log(\`at \${port};\`)`;

/** As much of Fastify as the routes use, which this repository does not install. */
const fastify = `${hono}import { Hono } from 'hono';
export default () => {
  const app = new Hono();
  let refuse;
  const reply = (c) => {
    const made = { status: 200, code: (status) => ((made.status = status), made), send: (body) => c.json(body, made.status) };
    return made;
  };
  const add = (method) => (at, act) =>
    app[method]('/agents' + (at === '/' ? '' : at), async (c) => {
      const body = method === 'post' ? await c.req.json() : null;
      try {
        const result = await act({ body, params: c.req.param() }, reply(c));
        return result instanceof Response ? result : c.json(result);
      } catch (error) {
        return refuse(error, {}, reply(c));
      }
    });
  return {
    register: (plugin) => plugin({ post: add('post'), get: add('get'), setErrorHandler: (act) => (refuse = act) }),
    listen: () => serve({ fetch: app.fetch, port: 0 }, ${said}),
  };
};
`;

/** Plain JavaScript, since Node.js runs it without another tool: the server of each framework, with the lines to add. */
const servers: Record<'express' | 'hono' | 'fastify' | 'next', { files: Files; server: string; at: string }> = {
  express: {
    files: projects.express,
    server: `const app = require('express')();
MOUNT
const server = app.listen(0, () => console.log('at ' + server.address().port + ';'));`,
    at: 'server.js',
  },
  hono: {
    files: {
      'package.json': JSON.stringify({ type: 'module', dependencies: { hono: '4', ...known } }),
      'src/index.js': `new Hono();`,
    },
    server: `${hono}import { Hono } from 'hono';
const app = new Hono();
MOUNT
serve({ fetch: app.fetch, port: 0 }, ${said});`,
    at: 'src/index.js',
  },
  fastify: {
    files: { ...projects.fastify, 'node_modules/fastify/index.js': fastify },
    server: `import fastify from 'fastify';
const app = fastify();
MOUNT
app.listen();`,
    at: 'src/app.js',
  },
  next: {
    files: { 'package.json': JSON.stringify({ type: 'module', dependencies: { next: '16', ...known } }) },
    server: `${hono}import { Hono } from 'hono';
const { POST } = await import('./app/api/agents/route.js');
const { GET } = await import('./app/api/agents/[threadId]/[runId]/route.js');
const app = new Hono();
app.post('/agents', (c) => POST(c.req.raw));
app.get('/agents/:threadId/:runId', (c) => GET(c.req.raw, { params: Promise.resolve(c.req.param()) }));
serve({ fetch: app.fetch, port: 0 }, ${said});`,
    at: 'server.js',
  },
};

describe('a project to which init --existing has added Lanefold', { timeout: 180_000 }, () => {
  let database: TestDatabase;
  let root: string;
  let env: Record<string, string>;
  let worker: CliProcess | undefined;
  const started: ChildProcess[] = [];
  beforeAll(async () => {
    database = await createDatabase();
    env = { DATABASE_URL: database.url };
    root = mkdtempSync(path.join(tmpdir(), 'lanefold-existing-'));
  });
  afterAll(async () => {
    for (const child of [worker?.process, ...started]) child?.kill('SIGKILL');
    await worker?.ended;
    await database.drop();
    rmSync(root, { recursive: true });
  });

  function install(folder: string): void {
    mkdirSync(path.join(folder, 'node_modules'), { recursive: true });
    for (const name of ['express', 'hono', '@hono'])
      symlinkSync(path.resolve('node_modules', name), path.join(folder, 'node_modules', name));
    symlinkSync(inject('packageDir'), path.join(folder, 'node_modules/lanefold'));
    const stub = path.join(folder, 'node_modules/fastify');
    if (existsSync(stub)) writeFileSync(path.join(stub, 'package.json'), '{ "type": "module", "main": "index.js" }');
  }

  async function serve(folder: string, file: string): Promise<string> {
    const child = spawn(process.execPath, [file], { cwd: folder, env: { ...withoutOurs(process.env), ...env } });
    started.push(child);
    let text = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (part: string) => (text += part));
    const port = await until('the server listens', () => {
      if (child.exitCode !== null) throw new Error(text);
      return /at (\d+);/.exec(text)?.[1];
    });
    return `http://127.0.0.1:${port}/agents`;
  }

  const json = async (response: Response) =>
    [response.status, await response.json()] as [number, Record<string, unknown>];
  const post = async (url: string, body: object) =>
    json(
      await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    );

  test.each(Object.entries(servers))('answers over %s', async (name, { files, server, at }) => {
    const folder = path.join(root, name);
    writeProject(folder, files);
    const { code, stdout, stderr } = await cli(['init', '--existing'], { cwd: folder });
    expect([code, stderr]).toEqual([0, '']);
    const mount = stdout.split('\n').filter((line) => /^ {5}(const|import|app)\b/.test(line));
    install(folder);
    writeFileSync(
      path.join(folder, at),
      server.replace('MOUNT', () => mount.join('\n')),
    );
    const { scripts } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    worker ??= startCli(scripts['agents:worker']!.split(' ').slice(1), { cwd: folder, env });
    const url = await serve(folder, at);

    const [status, run] = await post(url, { question: 'Where is order A-17?' });
    expect(status).toBe(202);
    const answer = await until('the answer', async () => {
      const [, read] = await json(await fetch(`${url}/${String(run['threadId'])}/${String(run['id'])}`));
      return read['status'] === 'completed' ? read['result'] : undefined;
    });
    expect(answer).toBe('Here is what I found: look_up_order says {"item":"lamp","state":"shipped"}.');
    expect(await post(url, { question: '' })).toEqual([400, expect.objectContaining({ code: 'empty_content' })]);
    expect(await json(await fetch(`${url}/none/none`))).toEqual([
      404,
      expect.objectContaining({ code: 'run_not_found' }),
    ]);
  });

  test('depends on the package that the command came from', async () => {
    const folder = path.join(root, 'fresh');
    writeProject(folder, { 'package.json': '{ "private": true }' });
    const { code, stdout } = await cli(['init', '--existing'], { cwd: folder });
    expect(code).toBe(0);
    const [packed] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
    expect(stdout).toContain(`added the dependency lanefold file:${packed}`);
    const { dependencies } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    expect(dependencies).toEqual({ lanefold: `file:${packed}` });
  });
});
