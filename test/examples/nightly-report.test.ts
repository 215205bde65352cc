// @module-tag long
import { expect, test } from 'vitest';
import { callCli } from '../cli/call-cli.ts';
import { ownDatabase, startProgram } from './program.ts';

const env = ownDatabase();

test('a schedule of a program has its slots, and starts a run in each', async () => {
  const program = startProgram('examples/nightly-report/main.ts', { env, args: ['* * * * * *'] });
  await program.says(/^next reports: 20\d\d-/m);
  await program.says(/^completed thread_\S+: /m);
  const { code, stdout } = await callCli(['schedules', 'slots', 'report'], { env });
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^20\S+Z +fired +run_/m)]);
  program.stop();
  expect(await program.ended).toMatchObject({ code: 0, errors: '' });
});
