import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runRestarting, watchSources, type SourceWatcher } from '../../src/ops/cli/watch.ts';
import { deferred, until } from '../support/until.ts';

const program = fileURLToPath(new URL('fixtures/child.mjs', import.meta.url));

let root: string;
let project: string;
let watcher: SourceWatcher;
let own: string[];
beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'lanefold-dev-'));
  project = await mkdtemp(path.join(root, 'project-'));
  watcher = watchSources(project, path.join(root, '.env'));
  own = process.argv;
  process.argv = [own[0]!, program];
});
afterEach(async () => {
  process.argv = own;
  watcher.close();
  await rm(root, { recursive: true });
});

/** Changes files one after the other; returns what the watcher says. */
async function changes(files: string[]): Promise<string[]> {
  const seen: string[] = [];
  for (const file of files) {
    const change = watcher.changed();
    await writeFile(file, '');
    seen.push(await change);
  }
  return seen;
}

test('a change of a source of the project is seen, and of the .env in the current folder, wherever the project is', async () => {
  const files = [path.join(project, 'agents.ts'), path.join(root, '.env')];
  expect(await changes(files)).toEqual(['agents.ts', path.join('..', '.env')]);
});

/** Changes a file in one step, so that it is one change however slow this machine is. */
async function replace(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text);
  await rename(`${file}.new`, file);
}

test('a child that hangs while it loads is killed for the next one, which keeps to the port before', async () => {
  const stopped = deferred<void>();
  const log = path.join(root, 'said');
  const file = path.join(project, 'agents.ts');
  const env = { ...process.env, SAID: log, AGENTS: file };
  // not as a change: the watcher starts afterwards
  watcher.close();
  await writeFile(file, 'hang');
  watcher = watchSources(project, path.join(root, '.env'));
  const code = runRestarting({
    args: [],
    env,
    watcher,
    stopped: stopped.promise,
    limitMs: { loading: 50, restart: 20_000, stop: 20_000 },
  });
  const said = async () => (await readFile(log, 'utf8').catch(() => '')).trim().split('\n');
  await until('the first child hangs', async () => (await said()).includes('hangs'));
  await replace(file, 'serve');
  await until('the second child serves', async () => (await said()).includes('serves, before: none'));
  await replace(file, 'serve again');
  await until('the third child serves', async () => (await said()).includes('serves, before: 4321'));
  stopped.resolve();
  expect(await code).toBe(0);
  expect((await said()).filter((line) => line.startsWith('told'))).toEqual(['told to restart', 'told to stop']);
});
