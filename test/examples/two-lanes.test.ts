// @module-tag slow
import { afterAll, beforeAll, expect, test } from 'vitest';
import { emptyFolder } from './folder.ts';
import { startProgram } from './program.ts';

let folder: ReturnType<typeof emptyFolder>;
beforeAll(() => void (folder = emptyFolder()));
afterAll(() => folder.remove());

test('two lanes: apart, replaced, reset, switched, and the past read back', async () => {
  const { code, output, errors } = await startProgram('examples/two-lanes/main.ts', { cwd: folder.path }).ended;
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
