// @module-tag slow
import { describe, expect, test } from 'vitest';
import { callCli } from './call-cli.ts';
import { cli } from './cli.ts';

const commands = [
  'approve',
  'bench',
  'chaos',
  'context',
  'deny',
  'erase',
  'migrate',
  'replay',
  'run',
  'thread',
  'worker',
];

describe('help', () => {
  test('lists the commands, the environment and the exit codes', async () => {
    const { code, stdout, stderr } = await callCli(['--help']);
    expect([code, stderr]).toEqual([0, '']);
    for (const name of commands) expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'));
    for (const part of [
      'DATABASE_URL',
      'REDIS_URL',
      'LANEFOLD_AGENTS',
      'Exit codes:',
      '0  success',
      '1  failure',
      '2  invalid usage',
    ])
      expect(stdout).toContain(part);
  });

  test('lists every command in a group, the first steps first', async () => {
    const { stdout } = await callCli(['--help']);
    const headings = [...stdout.matchAll(/^([A-Z][a-z ]+):$/gm)].map((match) => match[1]!);
    expect(headings.slice(0, headings.indexOf('Environment'))).toEqual([
      'Options',
      'Start',
      'Processes',
      'Inspect',
      'Control runs',
      'Change threads',
      'Access and evidence',
      'Test',
      'Start here',
    ]);
    // the heading of commands without a group
    expect(stdout).not.toContain('\nCommands:');
    for (const [name, told] of [
      ['retry', 'current context of its lane'],
      ['rerun', 'on a fork of its lane'],
      ['replay', 'recorded conversations'],
    ] as const)
      expect(stdout).toMatch(new RegExp(`^  ${name} .*\n?.*${told}`, 'm'));
  });

  test.each(commands)('of %s shows examples', async (name) => {
    const { code, stdout } = await callCli([name, '--help']);
    expect(code).toBe(0);
    expect(stdout).toContain(`Usage: lanefold ${name} `);
    expect(stdout).toContain(`$ lanefold ${name}`);
    expect(stdout).toMatch(/Environment:\n {2}\S/);
    expect(stdout).toContain('--json');
  });

  test('of a group begins with what it does, and has no heading of the whole program', async () => {
    const { stdout } = await callCli(['agents', '--help']);
    expect(stdout).toContain('Lists agents, lists and compares their versions');
    expect(stdout).not.toContain('\nStart:');
  });

  test('of a group that lists has the options of its list', async () => {
    const { stdout } = await callCli(['runs', '--help']);
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('Without a command, does what `list` does.');
    expect(stdout).toMatch(/Usage: lanefold runs list .*--status/s);
  });

  test('without a command is invalid usage', async () => {
    const { code, stdout, stderr } = await callCli([]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('Usage: lanefold');
  });

  test('the version is that of the package', async () => {
    expect((await callCli(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  test('a program exits with the code, and keeps its streams apart', async () => {
    const { code, stdout, stderr } = await cli(['wroker']);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain("unknown command 'wroker'");
  });
});

describe('invalid usage exits with 2, one line and a hint', () => {
  test.each([
    [['wroker'], "unknown command 'wroker'", 'Did you mean worker?'],
    [['work'], "unknown command 'work'", 'Did you mean worker?'],
    [['limts', '--help'], "unknown command 'limts'", 'Did you mean limits?'],
    [['help', 'limts'], "unknown command 'limts'", 'Did you mean limits?'],
    [['run', 'hi', '--modle', 'x'], "unknown option '--modle'", 'Did you mean --model?'],
    [['keys', 'creat'], "unknown command 'creat'", 'Did you mean create?'],
    [['agents', 'frobnicate'], "unknown command 'frobnicate'", 'See lanefold agents --help.'],
    [['replay'], "missing required argument 'file'", 'See'],
    [['run', 'hi', 'there'], 'too many arguments', 'See lanefold run --help.'],
    [['limits', 'set'], "required option '--kind <kind>' not specified", 'See lanefold limits set --help.'],
    [['worker', '--concurrency', '0'], 'must be a whole number of at least 1', 'See'],
    [['bench', '--concurrency', '1,0'], 'must be a whole number from 1 to 1000', 'See'],
    [['bench', '--seconds', 'soon'], 'must be a whole number from 1 to 3600', 'See'],
    [['thread', 't', '--limit', '1.5'], 'must be a whole number of at least 1', 'See'],
    [['replay', 'no-such-file.json'], 'Cannot read the recording no-such-file.json', 'JSON'],
  ])('%j', async (args, message, hint) => {
    const { code, stdout, stderr } = await callCli(args);
    expect([code, stdout]).toEqual([2, '']);
    const lines = stderr.trimEnd().split('\n');
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(/^lanefold: .* \[usage\]$/);
    expect(lines[0]).toContain(message);
    expect(lines[1]).toMatch(/^hint: /);
    expect(lines[1]).toContain(hint);
  });
});
