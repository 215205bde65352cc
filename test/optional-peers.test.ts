// @module-tag slow
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { emptyFolder } from './examples/folder.ts';

let folder: ReturnType<typeof emptyFolder>;
const installed = path.resolve('node_modules');
/** The scopes of the frameworks, of which nothing is installed. */
const absent = ['@langchain', '@openai'];

beforeAll(() => {
  folder = emptyFolder();
  const packages = path.join(folder.path, 'node_modules');
  mkdirSync(packages);
  for (const name of readdirSync(installed).filter((each) => !each.startsWith('.') && !absent.includes(each)))
    symlinkSync(path.join(installed, name), path.join(packages, name));
  // a package finds its dependencies from its real place, so the files are copied
  const { status } = spawnSync('cp', ['-rL', path.join(inject('packageDir'), 'dist'), folder.path]);
  expect(status).toBe(0);
});
afterAll(() => {
  rmSync(path.join(folder.path, 'node_modules'), { recursive: true });
  folder.remove();
});

/** @param entry as in `exports` of the package */
const importing = (entry: string) => {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    exports: Record<string, { default: string }>;
  };
  const file = path.join(folder.path, exports[entry === '' ? '.' : `./${entry}`]!.default);
  const code = `import(${JSON.stringify(file)}).then(() => console.log('loaded'), (e) => console.log(e.code, e.message))`;
  return spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    encoding: 'utf8',
    timeout: 60_000,
  }).stdout.trim();
};

test('without a framework, its entry names it, and the others load', () => {
  for (const entry of ['', 'chat', 'strategy', 'testing']) expect(importing(entry)).toBe('loaded');
  expect(importing('langgraph')).toMatch(
    /^ERR_MODULE_NOT_FOUND Cannot find package '@langchain\/langgraph-checkpoint'/,
  );
  expect(importing('openai-agents')).toMatch(/^ERR_MODULE_NOT_FOUND Cannot find package '@openai\/agents-core'/);
});
