// @module-tag slow
import { afterAll, beforeAll, expect, test } from 'vitest';
import { emptyFolder } from './folder.ts';
import { startProgram } from './program.ts';

let folder: ReturnType<typeof emptyFolder>;
beforeAll(() => void (folder = emptyFolder()));
afterAll(() => folder.remove());

test('the worse version fails the build, with a report', async () => {
  const { code, output, errors } = await startProgram('examples/evals/main.ts', { cwd: folder.path }).ended;
  expect([code, errors]).toEqual([1, expect.stringContaining('pass_rate')]);
  expect(output).toMatch(/^\| `?a`? .*100/m);
  expect(output).toMatch(/^\| `?b`? .*\b0/m);
});
