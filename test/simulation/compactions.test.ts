// @module-tag long
import { describe, expect, test } from 'vitest';
import { openLog } from '../db/helpers.ts';
import { change } from '../history/mutants/change.ts';
import { ComparedStore } from './compared-store.ts';
import { Model } from './model/model.ts';
import { compacts, type Body, type Entry, type Thread } from './model/state.ts';
import { simulate } from './simulate.ts';
import { SqlStore } from './sql-store.ts';

const steps = 1_600;

const isCompaction = ({ payload }: Entry): boolean =>
  (payload['operation'] as Body | undefined)?.['reason'] === 'compaction';

/** Who made a compaction: a run whose context was too large, a run that was asked for it, or a client. */
function makerOf(thread: Thread, { run_id }: Entry): string {
  const run = thread.runs.find(({ id }) => id === run_id);
  return run ? (compacts(run) ? 'request' : 'policy') : 'client';
}

test('lanes are compacted by runs, on request and by clients, and their conversations continue', async () => {
  const continued = new Map<string, number>();
  for (const seed of [20, 22]) {
    const model = new Model();
    await simulate(model, { seed, steps });
    for (const thread of model.threads.values())
      for (const compaction of thread.entries.filter(isCompaction)) {
        const { seq, context_ref } = compaction;
        const later = thread.entries.filter((entry) => entry.seq > seq && entry.context_ref === context_ref);
        if (!later.some(({ role }) => role === 'assistant')) continue;
        const maker = makerOf(thread, compaction);
        continued.set(maker, (continued.get(maker) ?? 0) + 1);
      }
  }
  expect([...continued.keys()].sort()).toEqual(['client', 'policy', 'request']);
});

// no check of a history looks into anchors: an answer that differs from the model's shows what is wrong there
const mutants: { name: string; seed: number; sql: Record<string, [text: string, broken: string][]> }[] = [
  {
    name: 'a message that a compaction carries over loses its request',
    seed: 22,
    sql: { _later_messages: [[`, 'request_id', coalesce(e.request_id, e.run_id)`, '']] },
  },
  {
    name: 'the compaction of a run does not move the anchor',
    seed: 1,
    sql: { _write_compaction: [[`'is_anchor', true`, `'is_anchor', false`]] },
  },
  {
    name: 'a stale compaction is written',
    seed: 1,
    sql: { _is_stale_compaction: [['return found or ', 'return ']] },
  },
  {
    name: 'a second compaction of a lane does not wait for the first',
    seed: 1,
    sql: { _accepted_before: [[`if p -> 'options' ? 'compaction' then`, 'if false then']] },
  },
];

describe('a broken compaction', () => {
  test.each(mutants)('is found: $name', async ({ name, seed, sql }) => {
    const log = await openLog({ connections: 1 });
    try {
      await change(log, { name, caughtBy: 'difference', sql });
      const { found } = await simulate(new ComparedStore(await SqlStore.open(log.db), new Model()), { seed, steps });
      expect(found[0]?.check).toBe('difference');
    } finally {
      await log.drop();
    }
  });
});
