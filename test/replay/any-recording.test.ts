// @module-tag long
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseRecording } from '../../src/ops/replay/recording.ts';
import { replay } from '../../src/ops/replay/replay.ts';
import { cases } from '../support/cases.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

const text = fc.string({ unit: 'grapheme', maxLength: 30 }).map((s) => s.replaceAll('\u0000', ''));
const words = text.map((s) => `Q${s}`);
const image = fc.constantFrom(
  'https://example.com/a.png',
  'data:image/png;base64,iVBORw0KGgo=',
  'https://example.com/b',
);
const question = words;
/** A user message, now and then with images as OpenAI has them. */
const asked = fc.oneof(
  { weight: 4, arbitrary: words as fc.Arbitrary<unknown> },
  {
    weight: 1,
    arbitrary: fc
      .tuple(words, fc.array(image, { maxLength: 2 }))
      .map(([said, images]) => [
        { type: 'text', text: said },
        ...images.map((url) => ({ type: 'image_url', image_url: { url, detail: 'low' } })),
      ]),
  },
);
// Few ids, names and arguments, so that they repeat within a turn and from turn to turn. All are JSON objects, or none: with
// others, no call runs here, whatever another engine did.
const call = fc.record({
  id: fc.constantFrom('a', 'b'),
  function: fc.record({
    name: fc.constantFrom('look', 'book'),
    arguments: fc.constantFrom('{}', '{"b":1, "a":{"d":[],"c":"é"}}', ''),
  }),
});
const round = fc
  .record({ content: fc.option(text), calls: fc.array(fc.tuple(call, text), { minLength: 1, maxLength: 6 }) })
  .map(({ content, calls }) => [
    { role: 'assistant', content, tool_calls: calls.map(([c]) => c) },
    ...calls.map(([c, result]) => ({ role: 'tool', tool_call_id: c.id, name: c.function.name, content: result })),
  ]);
const answer = fc.option(text).map((content) => ({ role: 'assistant', content }));
const exchange = fc
  .record({ question: asked, rounds: fc.array(round, { maxLength: 3 }), answer: fc.option(answer) })
  .map(({ question: content, rounds, answer: last }) => [
    { role: 'user', content },
    ...rounds.flat(),
    ...(last ? [last] : []),
  ]);
const traj = fc
  .record({ system: fc.option(question), exchanges: fc.array(exchange, { minLength: 1, maxLength: 4 }) })
  .map(({ system, exchanges }) => [...(system ? [{ role: 'system', content: system }] : []), ...exchanges.flat()]);

describe('any recording', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(() => database.drop());

  test('replays without a mismatch', async () => {
    let n = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(traj, { minLength: 4, maxLength: 12 }), async (trajs) => {
        const recording = parseRecording('any.json', JSON.stringify(trajs.map((one) => ({ traj: one }))));
        const report = await replay(recording, {
          databaseUrl: database.url,
          redisUrl: null,
          prefix: `p${n++}-`,
          concurrency: 8,
        });
        const roles = trajs.flat().map((message) => message.role);
        expect(report).toMatchObject({
          mismatches: 0,
          firstMismatches: [],
          threads: trajs.length,
          modelCalls: roles.filter((role) => role === 'assistant').length,
          toolCalls: roles.filter((role) => role === 'tool').length,
        });
      }),
      { numRuns: cases(3) },
    );
  });
});
