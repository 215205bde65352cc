import type { AgentInputItem, SessionHistoryTransactionArgs } from '@openai/agents-core';
import fc from 'fast-check';

const text = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.constantFrom('', ' ', 'Grüße 🎉', 'a\u0000b', '\ud800', '__proto__', 'v8:'),
);
const callId = fc.constantFrom('c1', 'c2', 'c3');
/** What JSON cannot carry, too. */
const extra = fc.oneof(
  { weight: 5, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: fc.record({ providerData: fc.dictionary(fc.string({ maxLength: 3 }), fc.jsonValue()) }) },
  { weight: 1, arbitrary: fc.record({ providerData: fc.constantFrom({ a: undefined }, { n: -0 }, { n: NaN }, {}) }) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 3 }).map((bytes) => ({ providerData: { bytes } })) },
  { weight: 1, arbitrary: fc.constant({ id: undefined }) },
);
const parts = (type: string) => fc.array(fc.record({ type: fc.constant(type), text }), { maxLength: 2 });

const shapes = fc.oneof(
  fc.record({ role: fc.constant('user'), content: fc.oneof(text, parts('input_text')) }),
  fc.record({ role: fc.constant('assistant'), status: fc.constant('completed'), content: parts('output_text') }),
  fc.record({ role: fc.constant('system'), content: text }),
  fc.record({
    type: fc.constant('function_call'),
    callId,
    name: fc.constantFrom('f', 'g'),
    arguments: fc.constantFrom('{}', '{"a":1}', '{'),
  }),
  fc.record({ type: fc.constant('function_call'), callId, name: fc.constant('f'), arguments: fc.constant('{}') }),
  fc.record({
    type: fc.constant('function_call_result'),
    callId,
    name: fc.constant('f'),
    status: fc.constant('completed'),
    output: fc.oneof(text, fc.record({ type: fc.constant('text'), text })),
  }),
  fc.record({ type: fc.constant('reasoning'), content: parts('input_text') }),
  fc.record({ type: fc.constant('unknown') }),
);

export const item = fc.tuple(shapes, extra).map(([shape, more]) => ({ ...shape, ...more }) as AgentInputItem);
const items = fc.array(item, { maxLength: 4 });

export type Step =
  | { do: 'add'; items: AgentInputItem[] }
  | { do: 'pop' }
  | { do: 'clear' }
  | { do: 'read'; limit: number | undefined }
  /** Continues in an object without memory, as another process would. */
  | { do: 'reopen' }
  | { do: 'transact'; args: SessionHistoryTransactionArgs }
  /** Replaces that many items at the end, with the copy or one that differs. */
  | { do: 'replace'; operationId: string; count: number; exact: boolean; replacement: AgentInputItem[] };

const operationId = fc.constantFrom('o1', 'o2', 'o3', ' ', '');

export const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant('add'), items }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('pop') }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('clear') }) },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant('read'),
        limit: fc.option(fc.integer({ min: -1, max: 5 }), { nil: undefined }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('reopen') }) },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('transact'),
        args: fc.record({
          operationId,
          transaction: fc.oneof(
            fc.record({ type: fc.constant('append_items'), items }),
            fc.record({ type: fc.constant('append_items'), items: fc.constant([{ role: 'user', content: 'x' }]) }),
            fc.record({ type: fc.constant('replace_suffix'), expectedSuffix: items, replacement: items }),
            fc.constantFrom(
              { type: 'append_items' },
              { type: 'other', items: [] },
              { type: 'append_items', items: [{}] },
              null,
            ),
          ),
        }),
      }) as fc.Arbitrary<Step>,
    },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('replace'),
        operationId,
        count: fc.integer({ min: 0, max: 3 }),
        exact: fc.boolean(),
        replacement: items,
      }),
    },
  ) as fc.Arbitrary<Step>,
  { minLength: 1, maxLength: 9 },
);
