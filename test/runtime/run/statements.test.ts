import { defineAgent, defineTool, type ContextPolicy } from 'lanefold';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { citusLacks } from '../../support/citus-lacks.ts';

import { callsIn } from '../../support/statements.ts';
import { startRuntime, unset, type Runtime } from '../helpers.ts';

/** Statements of timers that name the runs a worker holds. All others of timers name none. */
const timed = ['renew_leases', 'renew_leases_and_report'];
/** Statements that serve all runs at once, however many there are, and are not counted towards any one run. */
const shared = ['runs_ended'];

describe('the SQL statements of a run', () => {
  let lanefold: Runtime;
  let counted: { name: string; about: string }[] = [];
  /** Whether each batch gets one call more, so that no call is alone in it. */
  let accompanied = false;
  const stranger = { thread_id: 'nowhere', function: 'enqueue_input', args: [{}] };
  beforeAll(async () => {
    const look = defineTool({ name: 'look', input: z.object({}).loose(), execute: () => 'seen' });
    const read = defineTool({ name: 'read', input: z.object({}), replay: 'readOnly', execute: () => 'found' });
    const tools = [look, read];
    lanefold = await startRuntime([defineAgent({ name: 'a', model: unset, instructions: 'Look.', tools })]);
  });
  afterAll(() => lanefold?.close());
  beforeEach(() => {
    counted = [];
    const query = pg.Client.prototype.query as (...args: unknown[]) => unknown;
    vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args: unknown[]) {
      const {
        name,
        text = String(args[0]),
        values: batch,
      } = args[0] as { name?: string; text?: string; values?: unknown[] };
      if (accompanied && name === 'attempts') {
        const values = [JSON.stringify([...(JSON.parse(batch![0] as string) as unknown[]), stranger])];
        return query.call(this, { ...(args[0] as object), values }, ...args.slice(1)) as never;
      }
      if (text.includes('lanefold.')) counted.push(...callsIn(args[0]).filter(({ name }) => !timed.includes(name)));
      return query.apply(this, args) as never;
    });
  });
  afterEach(() => void vi.restoreAllMocks());

  const run = async (
    calls: number,
    { deltas = 1, name = 'look', contextPolicy = undefined as ContextPolicy | undefined } = {},
  ) => {
    const model = lanefold.model([
      { calls: Array.from({ length: calls }, (_, i) => ({ id: `c${i}`, name, args: { i } })) },
      { text: 'word '.repeat(100), deltas },
    ]);
    const from = counted.length;
    const { run: ended, threadId } = await lanefold.run({
      agent: 'a',
      model: model.id,
      input: 'go',
      ...(contextPolicy ? { contextPolicy } : {}),
    });
    expect(ended).toMatchObject({ status: 'completed', step: 3 });
    return counted.slice(from).flatMap(({ name, about }) => (about.includes(threadId) ? name : []));
  };
  /**
   * What every such run needs. A run that takes longer is asked for more often by the client that waits; a run for which
   * its process has a free slot is claimed by the statement that accepts it.
   */
  const own = (statements: string[]) =>
    statements.filter((name) => ![...shared, 'read_run', 'claim_run'].includes(name)).toSorted();

  test('number at most eight for one safe tool call and three steps', async () => {
    const statements = await run(1);
    const named = (name: string) => statements.filter((each) => each === name).length;
    expect([named('enqueue_run'), named('commit_step')]).toEqual([1, 3]);
    expect(named('claim_run')).toBeLessThanOrEqual(1);
    expect(own(statements).length).toBeLessThanOrEqual(7);
  });

  test('number at most eight for a run alone, those that would serve more runs included', async () => {
    const alone: string[][] = [];
    for (let i = 0; i < 10; i++) alone.push(await run(1));
    // one run that takes longer is polled for more often
    const median = alone.toSorted((a, b) => a.length - b.length)[5]!;
    expect(median.length, median.join(', ')).toBeLessThanOrEqual(8);
  });

  test.skipIf(citusLacks.batches)('end with the last step, which returns the run to whoever waits for it', async () => {
    // the client that waits may ask once more while the last step is being written
    const last = [];
    for (let i = 0; i < 10; i++) last.push((await run(1)).filter((name) => !shared.includes(name)).at(-1));
    expect(last).toContain('commit_step');
    expect(last.filter((name) => name !== 'read_run' && name !== 'commit_step')).toEqual([]);
  });

  test.skipIf(citusLacks.batches)(
    'write an ordinary run together with others: the functions that write one run alone are not called',
    async () => {
      const alone = ['_enqueue_run', '_claim_run', '_commit_step'];
      const rename = (from: string, to: string) =>
        Promise.all(
          alone.map((name) =>
            lanefold.database.pool.query(`alter function lanefold.${name}${from} rename to ${name}${to}`),
          ),
        );
      await rename('', '_x');
      accompanied = true;
      try {
        await run(1);
      } finally {
        accompanied = false;
        await rename('_x', '');
      }
    },
  );

  test('are as many for parallel calls that end together as for one', async () => {
    const one = own(await run(1));
    // four calls run at a time
    for (const calls of [2, 4]) expect(own(await run(calls))).toEqual(one);
  });

  test('grow by at most one per parallel call that ends before its siblings', async () => {
    const one = own(await run(1)).length;
    expect(own(await run(9)).length - one).toBeLessThanOrEqual(8);
  });

  test('do not grow with parallel calls that only read', async () => {
    const one = own(await run(1, { name: 'read' }));
    expect(one).toEqual(own(await run(1)));
    expect(own(await run(5, { name: 'read' }))).toEqual(one);
  });

  test('are the same under a policy, even one that cuts: what it needs comes with the claim', async () => {
    const cutting = { maxMessages: 2, keepLastTurns: 0, tokenEstimator: 'calibrated' };
    expect(own(await run(1, { contextPolicy: cutting }))).toEqual(own(await run(1)));
  });

  test('do not grow with the number of streamed deltas', async () => {
    const whole = own(await run(1));
    expect(own(await run(1, { deltas: 100 }))).toEqual(whole);
  });
});
