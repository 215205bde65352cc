// @module-tag long
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLanefold, type Lanefold } from 'lanefold';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { callCli } from './call-cli.ts';

/** Clears the screen, renames the window and sets an 8-bit colour. */
const hostile = 'a\u001b[2J\u001b]0;x\u0007\u009b31m\r\u007fb\tc\r\nd';
const shown = 'a�[2J�]0;x��31m��b\tc\nd';

describe('text of models, users and tools cannot control the terminal', () => {
  let database: TestDatabase;
  let lanefold: Lanefold;
  let env: Record<string, string>;
  beforeAll(async () => {
    database = await createDatabase();
    lanefold = await createLanefold({ databaseUrl: database.url, redisUrl: null });
    env = { DATABASE_URL: database.url };
  });
  afterAll(async () => {
    await lanefold.close();
    await database.drop();
  });

  const commands = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/;

  test('in an answer, the log, the context and a stream; JSON output keeps it unchanged', async () => {
    const script = [{ tools: [{ tool: 'calculator\u009b', args: { expression: hostile } }], text: hostile }, hostile];
    const run = (...more: string[]) =>
      callCli(['run', hostile, '--model', `scripted:${JSON.stringify(script)}`, '--thread', 't', ...more], { env });
    expect(await run()).toMatchObject({ code: 0, stdout: `${shown}\n` });
    const last = (await lanefold.runs.list({ threadId: 't' })).data[0]!.id;
    const readers = [
      ['thread', 't'],
      ['context', 't'],
      ['tail', 't', last],
    ];
    for (const { code, stdout, stderr } of await Promise.all(readers.map((args) => callCli(args, { env })))) {
      expect(code).toBe(0);
      expect(stdout).toContain('a�[2J�]0;x��31m');
      expect(stdout + stderr).not.toMatch(commands);
    }
    expect(JSON.parse((await run('--json')).stdout)).toMatchObject({ result: hostile });
  });

  test('in the list of keys; its JSON spells it', async () => {
    await lanefold.keys.create({ name: hostile, scopes: ['read'], agents: [hostile] });
    const { code, stdout } = await callCli(['keys', 'list'], { env });
    expect(code).toBe(0);
    expect(stdout).toContain('agents a�[2J');
    expect(stdout).not.toMatch(commands);
    expect(stdout.trimEnd()).not.toContain('\n');
    const json = (await callCli(['keys', 'list', '--json'], { env })).stdout;
    expect(json).not.toMatch(commands);
    expect(JSON.parse(json)).toMatchObject({ data: [{ name: hostile, agents: [hostile] }] });
  });

  test('in an error', async () => {
    const { code, stderr } = await callCli(['run', 'x', '--model', `scripted:${hostile}`], { env });
    expect(code).not.toBe(0);
    expect(stderr).toContain('�[2J');
    expect(stderr).not.toMatch(commands);
  });
});
