// @module-tag long
import { execFile } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { callCli } from './call-cli.ts';
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
    callCli(['run', 'hello', ...args], { cwd: folder, env: { DATABASE_URL: database.url } });

  const agent = (type: string) =>
    `import { defineAgent } from 'lanefold';\nconst name${type} = 'parrot';\nexport default [defineAgent({ name, model: 'scripted:echo' })];`;
  const plain = `[{ name: 'parrot', model: 'scripted:echo' }]`;
  const list = `[{ name: 'parrot', model: 'mine' }]`;
  const aliases = `aliases: { mine: 'scripted:echo' }`;

  test('of any kind loads without a build, or is refused with the reason', async () => {
    const agents = {
      'agents.ts': agent(': string'),
      'agents.mts': agent(': string'),
      'agents.js': agent(''),
      'agents.mjs': agent(''),
      'common.js': `module.exports = ${plain};`,
      'common.cts': `const agents: { name: string; model: string }[] = ${plain};\nexport default agents;`,
    };
    const more = {
      'define.ts': `import { defineLanefold } from 'lanefold';\nexport default defineLanefold({ agents: ${list}, ${aliases} });`,
      'plain.mjs': `export default { agents: ${list}, ${aliases} };`,
      'options.cjs': `module.exports = { agents: ${list}, ${aliases} };`,
    };
    const refused: [string, string, RegExp][] = [
      ['syntax.ts', 'export default [', /Cannot load .*syntax\.ts: .*ERROR/],
      ['import.ts', 'import "./nowhere.js"; export default [];', /Cannot load .*import\.ts: .*nowhere/],
      [
        'typo.ts',
        'import { defineLanefold } from "lanefold"; export default defineLanefold({ agents: [], modles: {} });',
        /Cannot load .*typo\.ts: LanefoldError: defineLanefold does not take "modles"/,
      ],
      [
        'throws.mjs',
        'throw new TypeError("no luck\\ntoday"); export default [];',
        /Cannot load .*throws\.mjs: TypeError: no luck today/,
      ],
    ];
    const sources = [...Object.entries(agents), ...Object.entries(more), ...refused];
    const files = sources.map(([name, source]) => write(name, source));
    const loader = path.resolve('test/cli/fixtures/load-agents.mjs');
    const { stdout } = await promisify(execFile)(process.execPath, [loader, ...files], { cwd: folder });
    expect(JSON.parse(stdout)).toEqual([
      ...Object.keys(agents).map((file) => ({ file, agents: ['parrot'] })),
      ...Object.keys(more).map((file) => ({ file, agents: ['parrot'], aliases: { mine: 'scripted:echo' } })),
      ...refused.map(([file, , why]) => ({
        file,
        refused: expect.stringMatching(why) as string,
        hint: expect.any(String) as string,
      })),
    ]);
  });

  test('in TypeScript is run from the sources', async () => {
    const env = { DATABASE_URL: database.url };
    const args = ['run', 'hello', '--agents', write('own.ts', agent(': string'))];
    const { code, stdout, stderr } = await cli(args, { cwd: folder, env, fromSources: true });
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

  test('is what an agent needs that is not built in', async () => {
    expect(await run('--agent', 'support')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/there is only assistant.*\n.*--agents FILE/) as string,
    });
  });

  test.each([
    ['missing.ts', undefined, /missing\.ts does not exist/],
    ['none.ts', 'export const agents = [];', /none\.ts has no default export/],
    ['one.js', 'export default { name: "a", model: "scripted:echo" };', /one\.js is an agent, not an array/],
    ['object.js', 'export default { name: "a" };', /object\.js does not take "name"/],
    ['null.js', 'export default null;', /null\.js is null, not an array/],
    ['alone.js', 'export default { models: {} };', /alone\.js has no agents/],
    ['one-of.js', 'export default { agents: { name: "a" } };', /agents of the file .*one-of\.js are not an array/],
    ['empty.ts', 'export default [];', /exports an empty array/],
    ['number.ts', 'export default [3];', /Item 0 .* is a number, not an agent/],
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

  test('may define more than agents', async () => {
    const { code, stdout, stderr } = await run(
      '--agents',
      write('defined.mjs', `export default { agents: ${list}, ${aliases} };`),
    );
    expect([code, stdout], stderr).toEqual([0, 'hello\n']);
    expect(stderr).not.toContain('not read');
  });

  test('says which option belongs to the process, and which was probably meant', async () => {
    const refused = async (name: string, option: string) => {
      const { code, stderr } = await run('--agents', write(name, `export default { agents: ${list}, ${option} };`));
      expect(code).toBe(2);
      return stderr;
    };
    expect(await refused('database.mjs', `databaseUrl: 'postgresql://localhost/app'`)).toMatch(
      /does not take "databaseUrl", which belongs to a process.*\nhint: Set DATABASE_URL or --database-url/,
    );
    expect(await refused('typo.mjs', `priceof: () => 1`)).toMatch(/"priceof".*\nhint: Did you mean "priceOf"\?/);
  });

  test('is told of exports that look like options and are not read; its other exports are its own', async () => {
    const source = `
      export const parrot = { name: 'parrot', model: 'scripted:echo' };
      export const agent = parrot;
      export const questions = ['Who?'];
      export const models = {};
      export const contextWindow = 1;
      export default [parrot];`;
    const { code, stdout, stderr } = await run('--agents', write('unread.mjs', source));
    expect([code, stdout]).toEqual([0, 'hello\n']);
    const told = stderr.split('\n').filter((line) => line.includes(' exports '));
    expect(told).toHaveLength(2);
    expect(told.find((line) => line.includes('exports "models", which is not read'))).toContain(
      'export default defineLanefold({ agents: […], models })',
    );
    expect(told.find((line) => line.includes('exports "contextWindow"'))).toContain('Did you mean contextWindows?');
  });

  test('does not set its schedules where one run is asked for', async () => {
    const schedules = `schedules: { nightly: { agent: 'parrot', input: 'hello', cron: '0 3 * * *' } }`;
    const file = write(
      'schedules.mjs',
      `export default { agents: ${list}, aliases: { mine: 'scripted:echo' }, ${schedules} };`,
    );
    expect(await run('--agents', file)).toMatchObject({ code: 0 });
    const { rows } = await database.pool.query('select 1 from lanefold.schedule');
    expect(rows).toEqual([]);
  });
});
