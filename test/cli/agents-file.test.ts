// @module-tag long
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { cli } from './cli.ts';

// Outside any package, so no package.json marks these files as modules.
const folder = mkdtempSync(path.join(tmpdir(), 'lanefold-agents-'));
const write = (name: string, source: string): string => {
  writeFileSync(path.join(folder, name), source);
  return name;
};

describe('an agents file', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(() => database.drop());
  const run = (...args: string[]) =>
    cli(['run', 'hello', ...args], { cwd: folder, env: { DATABASE_URL: database.url }, fromSources: true });

  const agent = (type: string) =>
    `import { defineAgent } from 'lanefold';\nconst name${type} = 'parrot';\nexport default [defineAgent({ name, model: 'scripted:echo' })];`;
  test.each([
    ['agents.ts', agent(': string')],
    ['agents.mts', agent(': string')],
    ['agents.js', agent('')],
    ['agents.mjs', agent('')],
    ['common.js', `module.exports = [{ name: 'parrot', model: 'scripted:echo' }];`],
    [
      'common.cts',
      `const agents: { name: string; model: string }[] = [{ name: 'parrot', model: 'scripted:echo' }];\nexport default agents;`,
    ],
  ])('%s loads without a build', async (name, source) => {
    const { code, stdout, stderr } = await run('--agents', write(name, source));
    expect([code, stdout], stderr).toEqual([0, 'hello\n']);
  });

  test('may have several agents, one of which is selected by name', async () => {
    const file = write(
      'two.ts',
      `export default [{ name: 'a', model: 'scripted:["A"]' }, { name: 'b', model: 'scripted:["B"]' }];`,
    );
    expect(await run('--agents', file)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Choose one with --agent: a, b') as string,
    });
    expect(await run('--agents', file, '--agent', 'b')).toMatchObject({ code: 0, stdout: 'B\n' });
    expect(await run('--agents', file, '--agent', 'c')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Known agents: a, b') as string,
    });
  });

  test.each([
    ['missing.ts', undefined, /missing\.ts does not exist/],
    ['none.ts', 'export const agents = [];', /none\.ts has no default export/],
    ['object.js', 'export default { name: "a" };', /object\.js is an object, not an array/],
    ['empty.ts', 'export default [];', /exports an empty array/],
    ['number.ts', 'export default [3];', /Item 0 .* is a number, not an agent/],
    ['syntax.ts', 'export default [', /Cannot load .*syntax\.ts: .*ERROR/],
    ['import.ts', 'import "./nowhere.js"; export default [];', /Cannot load .*import\.ts: .*nowhere/],
    [
      'throws.mjs',
      'throw new TypeError("no luck\\ntoday"); export default [];',
      /Cannot load .*throws\.mjs: TypeError: no luck today/,
    ],
    ['invalid.ts', 'export default [{ name: "a" }];', /Agent "a" is invalid: model is missing/],
    ['tool.ts', 'export default [{ name: "a", model: "scripted:echo", tools: [{ name: "x y" }] }];', /is not a tool/],
  ])('%s is rejected with a one-line reason', async (name, source, why) => {
    if (source !== undefined) write(name, source);
    const { code, stdout, stderr } = await run('--agents', name);
    expect([code, stdout], stderr).toEqual([2, '']);
    const [first, second] = stderr.split('\n');
    expect(first).toMatch(/^lanefold: /);
    expect(first).toMatch(why);
    expect(second).toMatch(/^hint: /);
  });
});
