import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type pg from 'pg';
import { expect } from 'vitest';
import { actionsOf, damaged, traceSource, type Action } from './actions.ts';
import { recordedOn } from './record.ts';
import { model, search } from './spin.ts';

/** Whether the model can do what one of the recordings in this source did. */
export async function accepts(text: string): Promise<boolean> {
  const dir = await mkdtemp(path.join(tmpdir(), 'lanefold-trace-'));
  try {
    const source = path.join(dir, 'trace.pml');
    await writeFile(source, text);
    return (await search([], { source, short: true })).broken === 'the_run_is_accepted';
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/**
 * Asserts that the model can do what was recorded on these threads, in this order at least the `expected` actions, and
 * none of the damaged copies of it.
 */
export async function expectFollowed(
  pool: pg.Pool,
  threadIds: readonly string[],
  world: readonly string[],
  expected: readonly string[],
): Promise<void> {
  const actions = actionsOf(await recordedOn(pool, threadIds));
  const names = actions.map(({ name, run, value }) => `${name} ${run}:${value}`).join(', ');
  expect(actions.map(({ name }) => name)).toEqual(expect.arrayContaining([...expected]));
  const source = (traces: readonly (readonly Action[])[]) => traceSource(model, world, traces);
  expect(await accepts(source([actions])), names).toBe(true);
  expect(await accepts(source(damaged(actions))), `a damaged copy of ${names}`).toBe(false);
}
