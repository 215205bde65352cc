// @module-tag slow
import { expect, test } from 'vitest';
import { ownDatabase, startProgram } from './program.ts';

const env = ownDatabase();

test('the worse version fails the build, with a report', async () => {
  const { code, output, errors } = await startProgram('examples/evals/main.ts', { env }).ended;
  expect([code, errors]).toEqual([1, expect.stringContaining('pass_rate')]);
  expect(output).toMatch(/^\| `?a`? .*100/m);
  expect(output).toMatch(/^\| `?b`? .*\b0/m);
});
