// @module-tag slow
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { newThread, refused, useLog } from '../db/helpers.ts';
import { history, play } from '../db/history.ts';
import { assertInvariants } from '../db/invariants.ts';
import { asks, sqlRun } from '../db/sql-run.ts';
import { cases } from '../support/cases.ts';
import { contextsOf, factsOf, linesOf } from './support.ts';

const log = useLog();
const user = (content: string) => ({ message: { role: 'user' as const, content } });

test('after an export and an import, every lane has the same context at every entry', async () => {
  await fc.assert(
    fc.asyncProperty(history, async ({ prompt, actions }) => {
      const id = await newThread(log, prompt === undefined ? {} : { systemPrompt: prompt });
      for (const action of actions) await play(log, id, action);
      const { rev } = await log.threads.peek(id);
      const lines = await linesOf(log.threads, id);
      const copy = await log.threads.import({ format: 'lanefold', lines }, { id: `${id}.copy` });

      expect(copy).toEqual({ id: `${id}.copy`, rev: rev + 1, duplicate: false, notes: [] });
      expect(await contextsOf(log.pool, copy.id, rev)).toEqual(await contextsOf(log.pool, id, rev));
      expect(await factsOf(log.pool, copy.id, rev)).toEqual(await factsOf(log.pool, id, rev));
      await assertInvariants(log.db);
      // what the copy exports is the same up to its last entry
      const again = await linesOf(log.threads, copy.id);
      const entry = (line: string) => JSON.stringify({ ...(JSON.parse(line) as object), line: 0, hash: '' });
      const entriesOf = (all: string[]) => all.filter((line) => line.includes('"type":"entry"')).map(entry);
      expect(entriesOf(again).slice(0, -1)).toEqual(entriesOf(lines));
    }),
    { numRuns: cases(5) },
  );
});

test('the copy of a run that answered a question again has no question of its own either', async () => {
  const id = await newThread(log);
  await log.threads.append(id, [user('one')]);
  await play(log, id, { do: 'branch', at: 1, lane: 'default', asks: 'again' });
  const runs = async (of: string) =>
    (await log.pool.query('select id, status, user_seq from lanefold.run where thread_id = $1', [of])).rows;
  const lines = await linesOf(log.threads, id);
  const copy = await log.threads.import({ format: 'lanefold', lines }, { id: `${id}.again` });
  expect(await runs(id)).toMatchObject([{ user_seq: null }]);
  expect(await runs(copy.id)).toEqual(await runs(id));
  await assertInvariants(log.db);
});

/** A thread with an anchor, a run with tools, a number that a double cannot hold, and two lanes. */
async function richThread(): Promise<string> {
  const id = await newThread(log, { systemPrompt: 'p\u2028\u0085' });
  await log.threads.append(id, [user('one'), { ...user('aside'), contextRef: 'side' }]);
  await play(log, id, {
    do: 'run',
    lane: 'default',
    prompt: null,
    tools: 1,
    end: 'answer',
    deferred: undefined,
  });
  await log.pool.query(
    `select lanefold.append_entries($1, '[{"kind": "measure", "payload": {"n": 12345678901234567890.10}}]')`,
    [id],
  );
  await log.contexts.replace(id, { systemPrompt: null, entries: [{ role: 'user', content: 'anew' }] });
  return id;
}

const tableCounts = async () =>
  (
    await log.pool.query(
      `select (select count(*) from lanefold.thread) as threads, (select count(*) from lanefold._entry) as entries,
         (select count(*) from lanefold._run) as runs, (select count(*) from lanefold.content) as contents`,
    )
  ).rows;

test('the result of any change to a line is a refusal that names the line, and nothing is written', async () => {
  const id = await richThread();
  const lines = await linesOf(log.threads, id);
  const before = await tableCounts();
  const change = fc.oneof(
    fc.record({
      how: fc.constant('edit' as const),
      at: fc.nat(),
      char: fc.nat(),
      to: fc.constantFrom('0', 'x', ' ', '"'),
    }),
    fc.record({ how: fc.constantFrom('remove' as const, 'repeat' as const, 'swap' as const), at: fc.nat() }),
  );
  const changed = (all: string[], c: typeof change extends fc.Arbitrary<infer Change> ? Change : never) => {
    const at = c.at % (lines.length - 1);
    if (c.how === 'edit') {
      const line = all[at]!;
      const char = c.char % line.length;
      return { at, all: all.with(at, line.slice(0, char) + c.to + line.slice(char + 1)) };
    }
    if (c.how === 'remove') return { at, all: all.toSpliced(at, 1) };
    if (c.how === 'repeat') return { at: at + 1, all: all.toSpliced(at, 0, all[at]!) };
    return { at, all: all.toSpliced(at, 2, all[at + 1]!, all[at]!) };
  };
  await fc.assert(
    fc.asyncProperty(change, async (c) => {
      const { at, all } = changed(lines, c);
      fc.pre(all.join('\n') !== lines.join('\n'));
      const error = await log.threads
        .import({ format: 'lanefold', lines: all }, { id: 'changed' })
        .catch((e: unknown) => e);
      expect(error).toMatchObject({ code: 'import_refused', details: { line: at + 1 } });
    }),
    { numRuns: cases(60) },
  );
  for (let cut = 0; cut < lines.length; cut++)
    await refused(log.threads.import({ format: 'lanefold', lines: lines.slice(0, cut) }), 'import_refused');
  expect(await tableCounts()).toEqual(before);
  const entry = lines.findIndex((line) => line.includes('"aside"'));
  await expect(
    log.threads.import({ format: 'lanefold', lines: lines.with(entry, lines[entry]!.replace('aside', 'beside')) }),
  ).rejects.toThrow(/^Line 4 \(entry 2\) was changed after the export: its hash is \w{64}, but its text has \w{64}\.$/);
});

test('numbers keep their digits, and separators of lines are escaped', async () => {
  const id = await richThread();
  const lines = await linesOf(log.threads, id);
  expect(lines.join('')).not.toMatch(/[\n\r\u0085\u2028\u2029]/);
  const copy = await log.threads.import({ format: 'lanefold', lines }, { id: `${id}.digits` });
  const { rows } = await log.pool.query(
    "select payload ->> 'n' as n from lanefold.thread_entry where thread_id = $1 and kind = 'measure'",
    [copy.id],
  );
  expect(rows).toEqual([{ n: '12345678901234567890.10' }]);
  expect((await log.threads.config(copy.id, { atSeq: 0 })).systemPrompt).toBe('p\u2028\u0085');
});

test('importing the same again changes nothing; another export under the id, a taken and an erased id are refused', async () => {
  const id = await richThread();
  const lines = await linesOf(log.threads, id);
  const source = { format: 'lanefold' as const, lines };
  await refused(log.threads.import(source), 'thread_exists');
  const first = await log.threads.import(source, { id: 'twice', metadata: { from: 'there' } });
  await log.threads.append('twice', [user('later')]);
  expect(await log.threads.import(source, { id: 'twice' })).toEqual({ ...first, duplicate: true });
  expect((await log.threads.peek('twice')).metadata).toEqual({ from: 'there' });
  const other = { format: 'lanefold' as const, lines: await linesOf(log.threads, 'twice') };
  await refused(log.threads.import(other, { id: 'twice' }), 'idempotency_mismatch');
  const copy = await log.threads.import(other, { id: 'thrice' });
  expect(copy.rev).toBe(first.rev + 2);
  await log.threads.erase('thrice');
  await refused(log.threads.import(other, { id: 'thrice' }), 'thread_erased');
  await refused(linesOf(log.threads, 'thrice'), 'thread_erased');
  await refused(linesOf(log.threads, 'nowhere'), 'thread_not_found');
});

test('keys of appends come along, and callers cannot write the entry that says where a thread comes from', async () => {
  const id = await newThread(log);
  const append = (to: string, content: string) => log.threads.append(to, [user(content)], { opId: 'k' });
  const first = await append(id, 'once');
  const copy = await log.threads.import({ format: 'lanefold', lines: await linesOf(log.threads, id) }, { id: 'keyed' });
  expect(await append('keyed', 'once')).toEqual({ ...first, rev: copy.rev, duplicate: true });
  await refused(append('keyed', 'twice'), 'idempotency_mismatch');
  await refused(log.threads.append('keyed', [{ kind: 'thread_import', payload: {} }]), 'reserved_kind');
});

test('a run that continues is exported as it stands, and its copy is closed and cancelled', async () => {
  const id = await newThread(log);
  const run = sqlRun(log.db, id, 'open-run');
  await run.enqueue({});
  await run.claim({});
  await run.commit(0, asks(['c1', 'c2'], 1));
  await sqlRun(log.db, id, 'next-run').enqueue({ busy: 'wait' });
  const { rev } = await log.threads.peek(id);
  const lines = await linesOf(log.threads, id);
  const copy = await log.threads.import({ format: 'lanefold', lines }, { id: 'closed' });
  expect(copy.rev).toBe(rev + 3);
  expect(copy.notes.map(({ outcome, where }) => [outcome, where])).toEqual([
    ['changed', 'run open-run'],
    ['left_out', 'run next-run'],
    ['repaired', 'tool call c1'],
    ['repaired', 'tool call c2'],
  ]);
  expect(await contextsOf(log.pool, 'closed', rev)).toEqual(await contextsOf(log.pool, id, rev));
  const { rows } = await log.pool.query(
    `select r.status, r.error ->> 'type' as error, c.status as call from lanefold.run r
     join lanefold.run_tool_call c on c.thread_id = r.thread_id and c.run_id = r.id where r.thread_id = 'closed'`,
  );
  expect(rows).toEqual(['c1', 'c2'].map(() => ({ status: 'cancelled', error: 'cancelled', call: 'abandoned' })));
  // the copy takes messages at once, the original when its run has ended
  await log.threads.append('closed', [user('on')]);
  await run.finish({ status: 'failed', reason: 'error', error: { type: 'x', message: 'y' } }, 1);
});

test('a context that is larger than the limit of the database is refused', async () => {
  const id = await newThread(log);
  await log.threads.append(id, [user('x'.repeat(2_000))]);
  const source = { format: 'lanefold' as const, lines: await linesOf(log.threads, id) };
  log.db.settings.maxContextBytes = 1_000;
  try {
    await refused(log.threads.import(source, { id: 'over' }), 'context_too_large');
  } finally {
    delete log.db.settings.maxContextBytes;
  }
  expect(await log.threads.import(source, { id: 'over' })).toMatchObject({ duplicate: false });
});
