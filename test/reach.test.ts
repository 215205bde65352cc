// @module-tag slow
import { beforeAll, describe, expect, test } from 'vitest';
import { reachedTests, readUses, type Uses } from './reach.ts';

let uses: Uses;
beforeAll(async () => void (uses = await readUses()));
const nearest = (...changed: string[]) => reachedTests(uses, changed).slice(0, 12);

describe('the tests that a change can reach', () => {
  test('begin with those that import the module', () => {
    expect(nearest('src/base/common/json.ts')[0]).toBe('test/common/json.test.ts');
  });

  test('of a database function are those that call it, or that call what calls it', () => {
    expect(nearest('db/sql/limit/line.sql')).toContain('test/limits/line.test.ts');
    expect(nearest('db/sql/run/claim_run.sql')).toContain('test/db/claim.test.ts');
  });

  test('of a program are those that start it from the built package', () => {
    expect(nearest('workers/worker.ts')).toContain('test/workers/worker.test.ts');
  });

  test('of a guide are those that read the guides', () => {
    expect(nearest('docs/build/limits.md')).toContain('test/docs/links.test.ts');
  });

  test('of a test is the test itself, and of nothing, nothing', () => {
    expect(nearest('test/limits/line.test.ts')).toEqual(['test/limits/line.test.ts']);
    expect(nearest()).toEqual([]);
  });
});
