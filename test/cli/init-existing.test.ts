import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { callCli } from './call-cli.ts';
import { projects, readProject, writeProject, type Files } from './existing-projects.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'lanefold-existing-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const init = (...args: string[]) => callCli(['init', '--existing', ...args], { cwd: folder });

describe('init --existing', () => {
  test.each([
    [
      'express',
      ['Found Express, npm (package-lock.json) and JavaScript.', '1. npm install'],
      [
        'Add to server.js:',
        "const { agentRoutes } = require('./agents/routes.mjs');",
        "app.use('/agents', agentRoutes);",
      ],
      ['agents/agents.mjs', 'agents/lanefold.mjs', 'agents/routes.mjs'],
    ],
    [
      'hono',
      ['Found Hono, pnpm (pnpm-lock.yaml) and TypeScript.', '1. pnpm install'],
      [
        'Add to src/index.ts:',
        "import { agentRoutes } from './agents/routes.js';",
        "app.route('/agents', agentRoutes);",
      ],
      ['src/agents/agents.ts', 'src/agents/lanefold.ts', 'src/agents/routes.ts'],
    ],
    [
      'fastify',
      ['Found Fastify, yarn (yarn.lock) and JavaScript.', '1. yarn install'],
      [
        'Add to src/app.js:',
        "import { agentRoutes } from './agents/routes.js';",
        "app.register(agentRoutes, { prefix: '/agents' });",
      ],
      ['src/agents/agents.js', 'src/agents/lanefold.js', 'src/agents/routes.js'],
    ],
    [
      'next',
      ['Found Next.js, bun (bun.lock) and TypeScript.', '1. bun install'],
      ['Add to the object that next.config.ts exports:', "serverExternalPackages: ['lanefold'],"],
      [
        'src/agents/agents.ts',
        'src/agents/lanefold.ts',
        'src/app/api/agents/[threadId]/[runId]/route.ts',
        'src/app/api/agents/route.ts',
      ],
    ],
    [
      'none',
      ['Found no framework, npm (no lock file) and JavaScript.', '1. npm install'],
      ['Call ask() of agents/lanefold.js in your backend'],
      ['agents/agents.js', 'agents/lanefold.js'],
    ],
  ] as const)('adds Lanefold to a project of %s, and says what is left to do', async (name, found, toDo, added) => {
    const before: Files = projects[name];
    writeProject(folder, before);
    const { code, stdout, stderr } = await init();
    expect([code, stderr]).toEqual([0, '']);
    for (const line of [...found, ...toDo]) expect(stdout).toContain(line);
    const { 'package.json': manifest, '.gitignore': ignored, ...files } = readProject(folder);
    const { 'package.json': manifestBefore, ...filesBefore } = before;
    expect(files).toMatchObject(filesBefore);
    expect(Object.keys(files).filter((file) => !Object.hasOwn(before, file))).toEqual(added);
    for (const file of added) expect(stdout).toMatch(new RegExp(`^${file.replaceAll(/[[\]]/g, '\\$&')} +new$`, 'm'));
    expect(ignored).toBe('.lanefold\n');
    const agents = added[0];
    expect(JSON.parse(manifest!)).toEqual({
      ...(JSON.parse(manifestBefore!) as object),
      scripts: {
        'agents:dev': `lanefold dev --agents ${agents}`,
        'agents:worker': `lanefold worker --agents ${agents}`,
        'agents:migrate': 'lanefold migrate',
      },
    });
  });

  test('keeps the form of package.json, its scripts and .gitignore', async () => {
    const scripts = { 'agents:dev': 'mine' };
    const text = JSON.stringify({ scripts, dependencies: { lanefold: '1', hono: '4' }, license: 'MIT' }, null, '\t');
    writeProject(folder, { 'package.json': text, '.gitignore': 'dist' });
    const { code, stdout } = await init('--package-manager', 'bun');
    expect(code).toBe(0);
    expect(stdout).toContain('has the dependency lanefold 1 already');
    expect(stdout).toContain('left as it is (mine): the script agents:dev');
    const after = readProject(folder);
    expect(after['.gitignore']).toBe('dist\n.lanefold\n');
    const added = {
      'agents:worker': 'lanefold worker --agents agents/agents.mjs',
      'agents:migrate': 'lanefold migrate',
    };
    expect(after['package.json']).toBe(
      text.replace(JSON.stringify(scripts, null, '\t').replaceAll('\n', '\n\t'), () =>
        JSON.stringify({ ...scripts, ...added }, null, '\t').replaceAll('\n', '\n\t'),
      ),
    );
  });

  test('finds the lock file of a workspace, and the package manager that package.json names', async () => {
    const inner = path.join(folder, 'packages/shop');
    writeProject(folder, { 'pnpm-lock.yaml': '' });
    writeProject(inner, projects.none);
    const outer = await callCli(['init', 'packages/shop', '--existing'], { cwd: folder });
    expect(outer.stdout).toContain('pnpm (../../pnpm-lock.yaml)');
    expect(outer.stdout).toContain('1. cd packages/shop && pnpm install');
    const named = path.join(folder, 'packages/named');
    writeProject(named, { 'package.json': '{ "packageManager": "yarn@4.9.1", "dependencies": { "lanefold": "1" } }' });
    expect((await callCli(['init', named, '--existing'])).stdout).toContain('yarn (packageManager in package.json)');
  });

  const withBoth = '{ "dependencies": { "express": "5", "hono": "4", "lanefold": "1" } }';
  test.each<[string, Files, string[], string, string]>([
    ['no package.json', {}, [], 'has no package.json', 'Run the command in the folder of your project'],
    ['a broken package.json', { 'package.json': '{' }, [], 'Cannot read package.json', 'Fix the file'],
    ['a package.json with a list', { 'package.json': '[]' }, [], 'it is not an object', 'Fix the file'],
    ['scripts in a list', { 'package.json': '{ "scripts": [] }' }, [], '"scripts" of package.json', 'Fix the file'],
    ['two frameworks', { 'package.json': withBoth }, [], 'has express and hono', '--framework express'],
    [
      'two lock files',
      { ...projects.none, 'yarn.lock': '', 'bun.lock': '' },
      [],
      'several package managers: yarn.lock, bun.lock',
      '--package-manager yarn',
    ],
    [
      'a file of ours',
      { ...projects.none, 'agents/lanefold.js': 'mine' },
      [],
      'already has agents/lanefold.js',
      'rename the file',
    ],
    ['a mistyped framework', projects.none, ['--framework', 'expres'], 'expres', 'Did you mean express?'],
    ['a mistyped package manager', projects.none, ['--package-manager', 'yran'], 'yran', 'Did you mean yarn?'],
    ['an unknown framework', projects.none, ['--framework', 'koa'], 'koa', 'one of express, hono, fastify, next, none'],
    ['a mistyped option', projects.none, ['--packagemanager', 'npm'], '--packagemanager', '--package-manager'],
  ])('refuses %s, and writes nothing', async (_, files, args, message, hint) => {
    writeProject(folder, files);
    const { code, stdout, stderr } = await init(...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
    expect(stderr).toContain(hint);
    expect(readProject(folder)).toEqual(files);
  });

  test('belongs to its options, and a new project is not for a folder with a package.json', async () => {
    writeProject(folder, projects.none);
    const without = await callCli(['init', '--framework', 'hono'], { cwd: folder });
    expect(without).toMatchObject({ code: 2, stderr: expect.stringContaining('Add --existing') as string });
    const anew = await callCli(['init'], { cwd: folder });
    expect(anew).toMatchObject({ code: 2, stderr: expect.stringContaining('with --existing') as string });
    expect(readProject(folder)).toEqual(projects.none);
  });
});
