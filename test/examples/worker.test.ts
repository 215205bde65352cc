// @module-tag slow
import { afterEach, beforeEach, expect, test } from 'vitest';
import { cli } from '../cli/cli.ts';
import { emptyFolder } from './folder.ts';
import { startProgram, type Program } from './program.ts';

let folder: ReturnType<typeof emptyFolder>;
let worker: Program | undefined;

beforeEach(() => void (folder = emptyFolder()));
afterEach(async () => {
  worker?.stop();
  await worker?.ended;
  folder.remove();
});

test('a worker starts PostgreSQL, another process finds it there, and its own tools are called', async () => {
  worker = startProgram('examples/worker/main.ts', { cwd: folder.path });
  await worker.says(/worker \S+ ready, queue in postgres\n/);
  const ask = startProgram('examples/worker/ask.ts', { cwd: folder.path, args: ['Where is my order A-17?'] });
  const { code, output, errors } = await ask.ended;
  expect([code, errors]).toEqual([0, '']);
  expect(output).toMatch(/^completed – Here is what I found: /);
  expect(output).toContain('look_up_order says');
  await worker.says(/^completed support thread_\S+ \d+ ms$/m);
  worker.stop();
  expect(await worker.ended).toMatchObject({
    code: 0,
    output: expect.stringMatching(/stopped\n$/) as string,
    errors: '',
  });
});

test('the command line takes the same agents file', async () => {
  const { code, stdout } = await cli(
    [
      'run',
      'Refund it.',
      '--agents',
      `${process.cwd()}/examples/worker/agents.ts`,
      '--model',
      'scripted:[{"tool":"refund_order","args":{"orderId":"A-17"}},"Done."]',
    ],
    { cwd: folder.path, fromSources: true },
  );
  expect([code, stdout]).toEqual([0, 'Done.\n']);
});
