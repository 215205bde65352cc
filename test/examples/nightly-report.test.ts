// @module-tag slow
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cli } from '../cli/cli.ts';
import { emptyFolder } from './folder.ts';
import { startProgram } from './program.ts';

let folder: ReturnType<typeof emptyFolder>;
beforeAll(() => void (folder = emptyFolder()));
afterAll(() => folder.remove());

test('a schedule of a program has its slots, and starts a run in each', async () => {
  const program = startProgram('examples/nightly-report/main.ts', { cwd: folder.path, args: ['* * * * * *'] });
  await program.says(/^next reports: 20\d\d-/m);
  await program.says(/^completed thread_\S+: /m);
  const { code, stdout } = await cli(['schedules', 'slots', 'report'], { cwd: folder.path });
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^20\S+Z +fired +run_/m)]);
  program.stop();
  expect(await program.ended).toMatchObject({ code: 0, errors: '' });
});
