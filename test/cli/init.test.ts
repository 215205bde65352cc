// @module-tag long
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';
import { cli, startCli, type CliProcess } from './cli.ts';

// it starts the command line a dozen times
describe('a project of init', { timeout: 180_000 }, () => {
  let database: TestDatabase;
  let root: string;
  let folder: string;
  let env: Record<string, string>;
  beforeAll(async () => {
    database = await createDatabase();
    env = { DATABASE_URL: database.url };
    root = mkdtempSync(path.join(tmpdir(), 'lanefold-init-'));
    folder = path.join(root, 'My agents');
  });
  afterAll(async () => {
    rmSync(root, { recursive: true });
    await database.drop();
  });

  const read = (name: string) => readFileSync(path.join(folder, name), 'utf8');
  const write = (name: string, text: string) => writeFileSync(path.join(folder, name), text);

  test('is written once, and nothing is replaced', async () => {
    const first = await cli(['init', 'My agents'], { cwd: root });
    expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining('npm run ask') as string });
    const names = ['.gitignore', 'README.md', 'agents.ts', 'package.json', 'tsconfig.json'];
    // installed from no registry and no file: npm does not have it, so it packs itself
    const [packed] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
    expect(first.stderr).toContain('packing the package installed in');
    expect(readdirSync(folder).sort()).toEqual([...names, packed].sort());
    const { name, dependencies } = JSON.parse(read('package.json')) as Record<string, Record<string, string>>;
    expect([name, Object.keys(dependencies!)]).toEqual(['myagents', ['lanefold', 'zod']]);
    expect(dependencies!['lanefold']).toBe(`file:${packed}`);
    write('agents.ts', `${read('agents.ts')}// mine\n`);
    const again = await cli(['init', 'My agents'], { cwd: root });
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('nothing was written') as string });
    expect(read('agents.ts')).toContain('// mine');
  });

  test('runs, with the variables of its .env under those that are set', async () => {
    mkdirSync(path.join(folder, 'node_modules'));
    symlinkSync(inject('packageDir'), path.join(folder, 'node_modules/lanefold'));
    symlinkSync(path.resolve('node_modules/zod'), path.join(folder, 'node_modules/zod'));
    // an empty variable is unset, and a set one wins
    write('.env', `DATABASE_URL="${database.url}" # ours\nLANEFOLD_AGENTS=nowhere.ts\nREDIS_URL=\n`);
    const args = ['run', 'Where is order A-17?'];
    const ran = await cli(args, { cwd: folder, env: { LANEFOLD_AGENTS: 'agents.ts', DATABASE_URL: '' } });
    expect(ran.stdout, ran.stderr).toBe(
      'Here is what I found: look_up_order says {"item":"lamp","state":"shipped"}.\n',
    );
    expect((await cli(args, { cwd: folder })).stderr).toContain('nowhere.ts does not exist');
  });

  describe('under dev', () => {
    let dev: CliProcess;
    beforeAll(() => {
      write('.env', '');
      mkdirSync(path.join(folder, 'lib'));
      write('lib/answer.ts', `export const answer: string = 'one';`);
      write(
        'agents.ts',
        `import { answer } from './lib/answer.ts';
         export default [{ name: 'a', model: 'scripted:' + JSON.stringify([answer + (process.env.MOOD ?? '')]) }];`,
      );
      dev = startCli(['dev', '--agents', 'agents.ts'], { cwd: folder, env });
    });
    afterAll(() => void dev.process.kill('SIGKILL'));

    const starts = () => dev.said().stdout.split('Ctrl-C stops it.').length - 1;
    const serves = async (times: number) => {
      await until(`dev has started ${times} times`, () => starts() >= times || dev.process.exitCode !== null);
      expect(starts(), JSON.stringify(dev.said())).toBeGreaterThanOrEqual(times);
      return /API\s+(http:\S+)\/v1/.exec(dev.said().stdout.split('Ctrl-C stops it.').at(-2)!)![1]!;
    };
    const ask = async (url: string) => {
      const body = JSON.stringify({ agent: 'a', input: 'x', create_thread: true });
      const headers = { 'content-type': 'application/json' };
      const thread = `${url}/v1/threads/t${Math.random()}`;
      const { id } = (await (await fetch(`${thread}/runs`, { method: 'POST', body, headers })).json()) as {
        id: string;
      };
      return until('the answer', async () => {
        const run = (await (await fetch(`${thread}/runs/${id}`)).json()) as { result: string | null };
        return run.result ?? undefined;
      });
    };

    test('starts again, at the same address, when a file that it imports or .env changes', async () => {
      const url = await serves(1);
      expect(await ask(url)).toBe('one');
      write('lib/answer.ts', `export const answer: string = 'two';`);
      expect(await serves(2)).toBe(url);
      expect(await ask(url)).toBe('two');
      write('.env', 'MOOD=!');
      await serves(3);
      expect(await ask(url)).toBe('two!');
    });

    test('waits for the next change after a mistake, and ends with its child', async () => {
      write('lib/answer.ts', 'export const answer: string = ;');
      await dev.says('stderr', 'waiting for a change');
      write('lib/answer.ts', `export const answer: string = 'three';`);
      expect(await ask(await serves(4))).toBe('three!');
      dev.process.kill('SIGTERM');
      const { code, stderr } = await dev.ended;
      expect([code, stderr]).toEqual([0, expect.stringContaining('changed: restarting')]);
    });
  });

  test('dev without a file to load ends at once', async () => {
    expect(await cli(['dev', '--agents', 'none.ts'], { cwd: folder, env })).toMatchObject({ code: 2 });
  });
});
