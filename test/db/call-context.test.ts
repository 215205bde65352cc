import canonicalize from 'canonicalize';
import { defineAgent, type EnqueueOptions } from 'lanefold';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startRuntime, unset, type Runtime } from '../runtime/helpers.ts';

let lanefold: Runtime;
beforeAll(async () => {
  lanefold = await startRuntime([defineAgent({ name: 'a', model: unset, instructions: 'Help.' })], {
    requestTransformers: { last: ({ messages }) => ({ messages: messages.slice(-1) }) },
  });
});
afterAll(() => lanefold?.close());

const query = async <T>(sql: string, values: unknown[]): Promise<T[]> =>
  (await lanefold.database.pool.query(sql, values)).rows;

const canonicalInSql = async (values: unknown[]): Promise<string[]> => {
  const rows = await query<{ c: string }>(
    'select lanefold._canonical(v) as c from jsonb_array_elements($1::jsonb) with ordinality as x (v, n) order by n',
    [JSON.stringify(values)],
  );
  return rows.map((row) => row.c);
};

test('canonical JSON in SQL is that of RFC 8785', async () => {
  const numbers = [
    0, -0, 1, -1.5, 1e15, 1e20, 1e21, 123456789012345680000, 1e-6, 1e-7, 5e-324, 1.7976931348623157e308, 0.1, 100,
    // their shortest digits lie halfway to a neighbour
    36213595652796540, -409815608195288800, 102260748506071800,
  ];
  const texts = ['', '"\\\b\f\n\r\t\u0001\u001f/', 'é€😀', '\u007f\u2028'];
  const keys = { '\ufb33': 1, '😀': 2, b: { z: [], a: {} }, a: [true, false, null], '': 0, é: 3, B: 4 };
  const values = [...numbers, ...texts, keys];
  expect(await canonicalInSql(values)).toEqual(values.map((value) => canonicalize(value)));
  const doubles = [
    ...fc.sample(fc.double({ noNaN: true, noDefaultInfinity: true }), 500),
    ...fc.sample(fc.double({ min: 2 ** 53, max: 1e40, noNaN: true }), 2_000),
  ];
  expect(await canonicalInSql(doubles)).toEqual(doubles.map((value) => canonicalize(value)));
});

const text = 'x'.repeat(360);

/** Runs on one thread; what the model got, and what SQL says it got. */
async function history(
  requests: Partial<EnqueueOptions>[],
  between: (threadId: string, n: number) => Promise<unknown> = async () => {},
) {
  const model = lanefold.model(() => ({ text }));
  let threadId: string | undefined;
  for (const [n, options] of requests.entries()) {
    const on = threadId === undefined ? {} : { threadId };
    const done = await lanefold.run({ agent: 'a', model: model.id, input: text, ...options, ...on });
    expect(done.run.status).toBe('completed');
    threadId = done.threadId;
    await between(threadId, n);
  }
  const answers = await query<{ id: string }>(
    `select refs ->> 'llm_call_id' as id from lanefold.thread_entry where thread_id = $1 and role = 'assistant' order by seq`,
    [threadId],
  );
  const calls: { id: string; verified: boolean | null; roles: string[]; altered: string | null }[] = [];
  for (const { id } of answers)
    calls.push(
      ...(await query<(typeof calls)[0]>(
        `select $2 as id, lanefold.verify_call($1, $2) as verified, array_agg(role order by ordinal) as roles, max(altered) as altered
         from lanefold.call_context($1, $2)`,
        [threadId, id],
      )),
    );
  const seen = await Promise.all(calls.map(({ id }) => lanefold.contexts.call(threadId!, id)));
  expect(seen.map(({ verified }) => verified)).toEqual(calls.map(({ verified }) => verified ?? false));
  expect(seen.map(({ messages }) => messages.map(({ role }) => role))).toEqual(calls.map(({ roles }) => roles));
  return { calls, sent: model.calls.map((call) => call.prompt.map(({ role }) => role)) };
}

test('every call is proved by the log, whatever was cut, replaced or changed since', async () => {
  const contextPolicy = { maxInputTokens: 550, reserveOutputTokens: 0, keepLastTurns: 1 };
  const { calls, sent } = await history(
    Array.from({ length: 6 }, () => ({ contextPolicy })),
    async (threadId, n) => {
      if (n === 3) await lanefold.threads.configure(threadId, { systemPrompt: 'Help in verse.' });
      if (n === 4) {
        const entries = Array.from({ length: 6 }, (_, i) => ({
          role: i % 2 ? ('assistant' as const) : ('user' as const),
          content: text,
        }));
        await lanefold.contexts.replace(threadId, { entries });
      }
    },
  );
  expect(calls.map((call) => call.verified)).toEqual([true, true, true, true, true, true]);
  expect(calls.map((call) => call.roles)).toEqual(sent);
  expect(sent.map((roles) => roles.length)).toEqual([2, 4, 6, 4, 6, 4]);
});

test('also under the prompt and the kinds of a policy', async () => {
  const { calls, sent } = await history([
    { contextPolicy: { systemPrompt: 'Be brief.', includeKinds: ['message'] } },
    { contextPolicy: { maxMessages: 1, keepLastTurns: 1 } },
  ]);
  expect(calls.map((call) => call.verified)).toEqual([true, true]);
  expect(calls.map((call) => call.roles)).toEqual(sent);
});

test('says where a transformer sent something else', async () => {
  const { calls } = await history([{}, { requestTransformer: 'last' }]);
  expect(calls.map(({ verified, altered }) => [verified, altered])).toEqual([
    [true, null],
    [null, 'transformer'],
  ]);
  expect(await query('select * from lanefold.call_context($1, $2)', ['nobody', 'run_x.1'])).toEqual([]);
});
