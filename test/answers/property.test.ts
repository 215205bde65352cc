import fc from 'fast-check';
import { defineAgent, defineTool } from 'lanefold';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { cases } from '../support/cases.ts';
import { entriesOf, expectSound, ledgerOf } from '../support/log.ts';
import { startRuntime, unset, type Runtime } from '../runtime/helpers.ts';

const seen: string[] = [];
const record = (args: unknown) => void seen.push(JSON.stringify(args));
const input = { type: 'object' as const, properties: { folder: { type: 'string' as const } } };

const json = fc.json({ maxDepth: 3, stringUnit: 'grapheme-ascii' });
const written = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })).map((value) => JSON.stringify(value)),
  },
  { weight: 3, arbitrary: json },
  { weight: 2, arbitrary: fc.tuple(json, fc.nat()).map(([text, at]) => text.slice(0, at % (text.length + 1))) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('', ' ', '{}', '{', '[]', 'null', '{"a":1}{"a":2}', '```json\n{}\n```', "{'a': 1}"),
  },
);
const reason = fc.constantFrom('tool-calls', 'stop', 'other', 'length', 'content-filter');
const answer = fc.record({ texts: fc.array(written, { minLength: 1, maxLength: 4 }), reason });

/** The arguments with which a tool may see this text; undefined if it may not run. */
function argumentsOf(text: string): string | undefined {
  if (text.trim() === '') return '{}';
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? JSON.stringify(value) : undefined;
  } catch {
    return undefined;
  }
}

describe('whatever a model writes', () => {
  let lanefold: Runtime;
  beforeAll(async () => {
    const tools = [
      defineTool({ name: 'safe', input, execute: record }),
      defineTool({ name: 'once', input, replay: 'never', execute: record }),
    ];
    lanefold = await startRuntime([defineAgent({ name: 'a', model: unset, tools })]);
  });
  afterAll(() => lanefold?.close());

  test('a tool sees only arguments that it wrote as a JSON object, and no call of a cut answer runs', async () => {
    await fc.assert(
      fc.asyncProperty(answer, async ({ texts, reason }) => {
        seen.length = 0;
        const calls = texts.map((args, i) => ({ id: `c${i}`, name: i % 2 === 0 ? 'safe' : 'once', args }));
        const model = lanefold.model([{ calls, finishReason: reason }, { text: 'done' }]);
        const { run, threadId } = await lanefold.run({ agent: 'a', model: model.id, input: 'go' });
        expect(run).toMatchObject({ status: 'completed', result: 'done' });
        const cut = reason === 'length' || reason === 'content-filter';
        const allowed = texts.map((text) => (cut ? undefined : argumentsOf(text)));
        expect(seen.toSorted()).toEqual(allowed.filter((args) => args !== undefined).toSorted());
        const ledger = await ledgerOf(lanefold, threadId);
        expect(ledger.map(({ status }) => status)).toEqual(
          allowed.map((args) => (args === undefined ? 'error' : 'ok')),
        );
        const logged = (await entriesOf(lanefold, threadId)).find(({ role }) => role === 'assistant');
        expect(logged?.payload['tool_calls']).toMatchObject(texts.map((text) => ({ arguments_raw: text })));
        await expectSound(lanefold, threadId);
      }),
      { numRuns: cases(10) },
    );
  });
});
