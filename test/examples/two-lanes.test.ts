// @module-tag long
import { expect, test } from 'vitest';
import { ownDatabase, startProgram } from './program.ts';

const env = ownDatabase();

test('two lanes: apart, replaced, reset, switched, and the past read back', async () => {
  const { code, output, errors } = await startProgram('examples/two-lanes/main.ts', {
    env,
  }).ended;
  expect([code, errors]).toEqual([0, '']);
  const sections = output.trim().split('\n\n');
  expect(sections.slice(0, 4).map((section) => section.split('\n').slice(1))).toEqual([
    ['  default: system user assistant', '  scratch: system user assistant'],
    ['  default: system user assistant', '  scratch: system'],
    [],
    ['  default: system user assistant user assistant', '  scratch: system'],
  ]);
  expect(sections[2]).toBe('Active lane: scratch');
  expect(sections[4]).toContain('user: "We are naming a database. Candidates: Heron, Otter."');
});
