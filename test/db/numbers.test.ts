import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isExact } from '../../src/base/common/json.ts';
import { newThread, openLog, value, type TestLog } from './helpers.ts';
import { cases } from '../support/cases.ts';

let log: TestLog;
beforeAll(async () => void (log = await openLog()));
afterAll(() => log.drop());

const nested = (levels: number, inner = '1') => '['.repeat(levels) + inner + ']'.repeat(levels);
const append = (id: string, payload: string, kind = 'ai_message') =>
  value(log.db, 'select lanefold.append_entries($1, $2)', id, `[{"kind": "${kind}", "payload": ${payload}}]`);
const calling = (args: string) =>
  `{"role": "assistant", "content": "", "tool_calls": [{"id": "c", "name": "t", "arguments": ${args}}]}`;

describe('what SQL callers write', () => {
  test.each([
    ['2512292042121000001', 'the number 2512292042121000001, which no double holds'],
    ['9007199254740993', 'the number 9007199254740993'],
    ['0.1000000000000000000001', 'the number 0.1000000000000000000001'],
    ['1e999', 'the number 1000000000'],
    ['1e-400', 'the number 0.0000000000'],
    [nested(250), 'more than 216 levels of nesting'],
    [nested(2_000), 'more than 216 levels of nesting'],
  ])('%# are refused in messages and metadata', async (given, why) => {
    const id = await newThread(log);
    for (const write of [
      () => append(id, calling(`{"a": {"b": ${given}}}`)),
      () => append(id, `{"role": "user", "content": [{"type": "data", "data": ${given}}]}`),
      () => value(log.db, 'select lanefold.create_thread($1, $2)', `${id}.new`, `{"metadata": {"a": ${given}}}`),
      () =>
        value(
          log.db,
          'select lanefold.apply_operation($1, $2, null, $3)',
          id,
          'op',
          `{"type": "replace", "result_context": {"entries": [{"role": "user", "content": [{"type": "data", "data": ${given}}]}]}}`,
        ),
    ])
      await expect(write()).rejects.toThrow(why);
    expect(await value(log.db, 'select rev::int from lanefold.thread where id = $1', id)).toBe(0);
  });

  test('numbers that doubles hold are kept, and so are 200 levels', async () => {
    const id = await newThread(log);
    const content = `[{"type": "data", "data": [9007199254740991, 1e21, 6.02214076e23, 0.1, 36213595652796540, 5e-324, 1.7976931348623157e308, ${nested(200)}]}]`;
    await append(id, `{"role": "user", "content": ${content}}`);
    const [message] = await log.threads.entries(id);
    expect(message!.payload).toMatchObject({ content: JSON.parse(content) as unknown });
  });

  test('an entry of a kind of its own keeps all digits: as they are in SQL, as text in JavaScript', async () => {
    const id = await newThread(log);
    await append(id, '{"n": 2512292042121000001, "f": 0.1000000000000000000001, "fits": 7, "e": 1e400}', 'measure');
    const [entry] = await log.threads.entries(id);
    expect(entry!.payload).toMatchObject({
      n: '2512292042121000001',
      f: '0.1000000000000000000001',
      fits: 7,
      e: `1${'0'.repeat(400)}`,
    });
    expect(await value(log.db, `select payload ->> 'n' from lanefold.thread_entry where thread_id = $1`, id)).toBe(
      '2512292042121000001',
    );
    await expect(append(id, `{"n": ${nested(300)}}`, 'measure')).rejects.toThrow('more than 216 levels');
    await expect(append(id, `{"n": ${nested(20_000)}}`, 'measure')).rejects.toThrow();
  });
});

test('SQL and JavaScript agree which numbers are exact', async () => {
  const token = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
    fc.maxSafeInteger().map(String),
    fc
      .tuple(fc.bigInt({ min: 1n, max: 10n ** 19n }), fc.integer({ min: 1, max: 25 }))
      .map(([digits, places]) => `0.${'0'.repeat(25 - places)}${digits}`),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(token, { minLength: 1, maxLength: 50 }), async (tokens) => {
      const found = await value<boolean[]>(
        log.db,
        'select array(select lanefold._is_exact(n::numeric) from unnest($1::text[]) with ordinality x (n, o) order by o)',
        tokens,
      );
      // JavaScript also takes a double in more digits than it needs, and writes it in fewer
      expect(found).toEqual(tokens.map((each) => isExact(each) && same(each)));
    }),
    { numRuns: cases(20) },
  );
});

/** Whether the number is written again as the same decimal. */
const same = (token: string): boolean => {
  const exactly = (text: string): string => {
    const [mantissa = '', power = '0'] = text.replace(/^-/, '').split('e');
    const [whole = '', fraction = ''] = mantissa.split('.');
    const digits = (whole + fraction).replace(/^0+/, '');
    return `${digits.replace(/0+$/, '')}e${digits === '' ? 0 : Number(power) - fraction.length + digits.length - digits.replace(/0+$/, '').length}`;
  };
  return exactly(token) === exactly(String(Number(token)));
};
