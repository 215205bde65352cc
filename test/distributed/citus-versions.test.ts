import { expect, test } from 'vitest';
import { keepsEveryPlan } from '../../src/database/store/schema/distribute.ts';

test.each([
  ['Citus 12.1.6 on x86_64-pc-linux-gnu', false],
  ['Citus 13.2.0 on x86_64-pc-linux-gnu', false],
  ['Citus 13.2.1 on x86_64-pc-linux-gnu', true],
  ['Citus 13.2.2 on x86_64-pc-linux-gnu', true],
  ['Citus 14.0.1 on x86_64-pc-linux-gnu', true],
  ['Citus 14.0.2 on x86_64-pc-linux-gnu', false],
  ['Citus 14.1.0 on x86_64-pc-linux-gnu', false],
  ['Citus 15.0devel on x86_64-pc-linux-gnu', false],
])('whether nodes must plan each execution: %s', (version, eachTime) => {
  expect(keepsEveryPlan(version)).toBe(eachTime);
});
