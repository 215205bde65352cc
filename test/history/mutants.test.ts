// @module-tag long
import { describe, expect, test } from 'vitest';
import { checkHistory, operationChecks } from '../../src/ops/history/check-history.ts';
import { operationsOf } from '../../src/ops/history/event.ts';
import { openLog } from '../db/helpers.ts';
import { change } from './mutants/change.ts';
import { mutants, type Mutant } from './mutants/mutants.ts';
import { play } from './mutants/workload.ts';
import { World } from './mutants/world.ts';

/** Plays the workload on a new database, which a mutant has changed. */
async function historyWith(mutant?: Mutant): Promise<World> {
  const log = await openLog();
  try {
    if (mutant) await change(log, mutant);
    const world = new World(log, mutant?.runtime);
    await play(world);
    return world;
  } finally {
    await log.drop();
  }
}

const summary = ({ check, what }: { check: string; what: string }) => `${check}: ${what}`;

describe('a history of two clients and two workers', () => {
  test('is legal, and has answers of every kind', async () => {
    const { events } = await historyWith();
    expect(checkHistory(events).map(summary)).toEqual([]);
    const operations = operationsOf(events);
    const refused = operations
      .filter(({ outcome }) => outcome === 'fail')
      .map(({ f, thread_id, error }) => `${f} ${thread_id} ${error}`);
    expect(refused).toMatchInlineSnapshot(`
      [
        "append appends LF006",
        "record zombie LF012",
        "commit zombie LF012",
        "finish zombie LF012",
        "commit left LF012",
        "commit right LF012",
        "steer inputs LF027",
        "decide decision already_decided",
      ]
    `);
    expect(operations.filter(({ outcome }) => outcome === 'info').map(({ f, thread_id }) => `${f} ${thread_id}`))
      .toMatchInlineSnapshot(`
        [
          "append appends",
          "commit lost",
          "commit queue",
          "steer inputs",
          "execute charge",
        ]
      `);
    const notClaimed = operations.flatMap(({ f, answer, thread_id }) =>
      f === 'claim' && answer && !answer.claimed ? [thread_id] : [],
    );
    expect(notClaimed).toMatchInlineSnapshot(`
      [
        "claiming",
        "renewing",
        "committing",
        "recording",
        "queue",
        "queue",
      ]
    `);
  });

  test.each(mutants)('shows that $name', async (mutant) => {
    const found = checkHistory((await historyWith(mutant)).events);
    expect(
      found.map(({ check }) => check),
      found.map(summary).join('\n'),
    ).toContain(mutant.caughtBy);
  });

  test('has a mutant for every check', () => {
    expect(new Set(mutants.map(({ caughtBy }) => caughtBy))).toEqual(new Set(operationChecks.map(({ name }) => name)));
  });
});
