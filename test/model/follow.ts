import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type pg from 'pg';
import { expect } from 'vitest';
import { actionsOf, damaged, traceSource, type Action } from './actions.ts';
import { recordedOn } from './record.ts';
import { model, search } from './spin.ts';

/** Whether the model can do what one of these runs did, in the world that the definitions describe. */
async function accepts(world: readonly string[], traces: readonly (readonly Action[])[]): Promise<boolean> {
  const dir = await mkdtemp(path.join(tmpdir(), 'lanefold-trace-'));
  try {
    const source = path.join(dir, 'trace.pml');
    await writeFile(source, traceSource(model, world, traces));
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
  expect(await accepts(world, [actions]), names).toBe(true);
  expect(await accepts(world, damaged(actions)), `a damaged copy of ${names}`).toBe(false);
}
