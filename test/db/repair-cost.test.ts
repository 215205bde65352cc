// @module-tag slow
import { createHash } from 'node:crypto';
import pg from 'pg';
import { expect, test } from 'vitest';
import { onCitus } from '../support/services.ts';
import { useLog, value } from './helpers.ts';

const log = useLog();

/** Messages of one turn with n calls, all answered; and n turns of one call each, none answered. */
const shapes = {
  'one turn with many calls': (n: number) => `
    jsonb_build_array(jsonb_build_object('role', 'assistant', 'tool_calls',
      (select jsonb_agg(jsonb_build_object('id', 'c' || i, 'name', 'f') order by i) from generate_series(1, ${n}) i)))
    || (select jsonb_agg(jsonb_build_object('role', 'tool', 'tool_call_id', 'c' || i, 'content', 'x') order by i)
        from generate_series(1, ${n}) i)`,
  'one turn with many calls, none answered': (n: number) => `
    jsonb_build_array(jsonb_build_object('role', 'assistant', 'tool_calls',
      (select jsonb_agg(jsonb_build_object('id', 'c' || i, 'name', 'f') order by i) from generate_series(1, ${n}) i)))`,
  'many turns with a call each, none answered': (n: number) => `
    (select jsonb_agg(jsonb_build_object('role', 'assistant', 'tool_calls',
       jsonb_build_array(jsonb_build_object('id', 'c' || i, 'name', 'f'))) order by i) from generate_series(1, ${n}) i)`,
};

/**
 * CPU time of a statement in ms, the least of some: what else the machine does is not in it. In a session of its own, because one that
 * has moved large values before has its memory.
 */
async function cost(call: (messages: string) => string, messages: string, count = 5): Promise<number> {
  const client = new pg.Client({ connectionString: log.url });
  await client.connect();
  const times: number[] = [];
  const onNotice = ({ detail }: { detail?: string | undefined }) => {
    const used = /([\d.]+) s user, ([\d.]+) s system, [\d.]+ s elapsed/.exec(detail ?? '');
    if (used) times.push(1_000 * (Number(used[1]) + Number(used[2])));
  };
  client.on('notice', onNotice);
  try {
    // to make them takes as long as the call
    await client.query(`create temporary table given as select ${messages} as m`);
    await client.query('set client_min_messages = log; set log_executor_stats = on');
    for (let i = 0; i < count; i += 1) await client.query(`select ${call('m')} is null from given`);
    expect(times.length).toBeGreaterThanOrEqual(count);
    return Math.min(...times.slice(-count));
  } finally {
    client.off('notice', onNotice);
    await client.end();
  }
}

test.each(Object.entries(shapes))('checking and repairing %s takes time in proportion', async (_, messages) => {
  for (const call of [
    (m: string) => `lanefold._messages_problem(${m}, true)`,
    (m: string) => `lanefold._messages_problem(${m})`,
    (m: string) => `lanefold._repair_messages(${m})`,
  ]) {
    const [few, many] = [await cost(call, messages(200)), await cost(call, messages(6_400))];
    // 32 times the messages: 32 where the work is linear, 1,024 where it is quadratic
    expect(many / few, call('m')).toBeLessThan(200);
  }
});

test.each(Object.entries(shapes))(
  'what a provider accepts in place of %s takes time in proportion',
  async (_, messages) => {
    // ids that are kept, that are replaced, and that all calls share
    for (const [dialect, id] of [
      ['openai', `'c' || i`],
      ['anthropic', `'é' || i`],
      ['mistral', `'c'`],
    ] as const) {
      const of = (n: number) => messages(n).replaceAll(`'c' || i`, id);
      const call = (m: string) => `lanefold._acceptable(${m}, '${dialect}')`;
      const [few, many] = [await cost(call, of(200)), await cost(call, of(6_400), 2)];
      expect(many / few, dialect).toBeLessThan(200);
    }
  },
);

test('ten thousand unanswered calls are repaired, each with its result', async () => {
  const n = 10_000;
  const repaired = `lanefold._repair_messages(${shapes['one turn with many calls, none answered'](n)})`;
  const found = `select jsonb_build_array(jsonb_array_length(r), r -> ${n} ->> 'tool_call_id') from (select ${repaired} as r offset 0) x`;
  expect(await value(log.db, found)).toEqual([n + 1, `c${n}`]);
});

test.skipIf(onCitus)('an import is checked in proportion, however often it repeats itself', async () => {
  const text = 'x'.repeat(4_000_000);
  const id = `c_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
  const threadOf = async (quotes: number) => {
    const entries = Array.from({ length: quotes }, (_, seq) => {
      const payload = { content: 'A long text.' };
      return { seq, kind: 'ai_message', context_ref: 'default', role: 'user', payload, refs: { contents: [{ id }] } };
    });
    // the text itself is no part of the lane
    entries.push({ ...entries[0]!, seq: quotes, payload: { content: 'y'.repeat(4_000_000) } });
    const p = { entries, contents: [{ id, text }], lanes: [], request_hash: 'x', facts: {} };
    const thread = `quotes-${quotes}`;
    await value(log.db, 'select lanefold.import_thread($1, $2)', thread, JSON.stringify(p));
    return thread;
  };
  const costOf = async (thread: string, quotes: number, lanes: number) => {
    const digest = `lanefold.lane_digest('${thread}', 'default', ${quotes})`;
    const repeated = `(select jsonb_build_object('lanes', jsonb_agg(jsonb_build_object('context_ref', 'default', 'digest', d)))
      from (select ${digest} as d offset 0) x, generate_series(1, ${lanes}))`;
    return cost((m) => `lanefold._check_import('${thread}', ${m}, ${quotes + 1})::text`, repeated);
  };
  const [few, many] = [await threadOf(2), await threadOf(100)];
  const base = await costOf(few, 2, 1);
  expect((await costOf(many, 100, 1)) / base, 'texts').toBeLessThan(5);
  expect((await costOf(few, 2, 50)) / base, 'lanes').toBeLessThan(5);
});
