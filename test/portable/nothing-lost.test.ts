import { AIMessage, HumanMessage, SystemMessage, ToolMessage, type BaseMessage } from '@langchain/core/messages';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { useLog } from '../db/helpers.ts';
import { cases } from '../support/cases.ts';

const log = useLog();

type Value = string | Value[] | { [key: string]: Value };

/** A text that no other leaf of a history has. */
let made = 0;
const leaf = fc.constant(null).map(() => `leaf-${++made}-`);
/** Fields that a reader may know or not. */
const names = [
  'id',
  'status',
  'metadata',
  'annotations',
  'logprobs',
  'detail',
  'refusal',
  'name',
  'phase',
  'audio',
  'artifact',
  'title',
  'usage_metadata',
  'response_metadata',
  'additional_kwargs',
  'providerMetadata',
  'cache_control',
];
const extras = fc.dictionary(
  fc.constantFrom(...names),
  fc.oneof(leaf, fc.record({ a: leaf, b: fc.array(leaf, { maxLength: 2 }) })),
  { maxKeys: 3, noNullPrototype: true },
);
const withExtras = <T extends object>(arbitrary: fc.Arbitrary<T>, without: string[] = []) =>
  fc.tuple(extras, arbitrary).map(([more, own]) => {
    const rest = Object.fromEntries(Object.entries(more).filter(([key]) => !without.includes(key)));
    return { ...rest, ...own };
  });
const is = <T extends string>(text: T) => fc.constant(text);
const list = <T>(arbitrary: fc.Arbitrary<T>) => fc.array(arbitrary, { minLength: 1, maxLength: 3 });
const image = 'https://example.com/a.png';

/** Leaves by their place. */
function leavesOf(value: Value | null | undefined, place = ''): [string, string][] {
  if (typeof value === 'string') return value.startsWith('leaf-') ? [[place, value]] : [];
  if (Array.isArray(value)) return value.flatMap((each, i) => leavesOf(each, `${place}[${i}]`));
  return Object.entries(Object(value) as Record<string, Value>).flatMap(([key, each]) =>
    leavesOf(each, place === '' ? key : `${place}.${key}`),
  );
}

const within = (place: string, where: string): boolean =>
  [place, place.replace(/\[\d+\]/g, '[]')].some(
    (own) => own === where || own.startsWith(`${where}.`) || own.startsWith(`${where}[`),
  );

/** Every leaf of the source is in the log, or a note names its place or one that contains it. */
async function expectNothingLost(source: Value, copy: { id: string; notes: { where: string }[] }): Promise<void> {
  const entries = await log.threads.entries(copy.id, { limit: 10_000 });
  const text = JSON.stringify(entries.map(({ payload }) => ({ ...(payload as object), notes: undefined })));
  const lost = leavesOf(source).filter(
    ([place, one]) => !text.includes(one) && !copy.notes.some(({ where }) => within(place, where)),
  );
  expect(lost, JSON.stringify([source, copy.notes], null, 1)).toEqual([]);
}

let imported = 0;
const check = <T>(arbitrary: fc.Arbitrary<T>, run: (history: T, id: string) => Promise<void>) =>
  fc.assert(
    fc.asyncProperty(arbitrary, (history) => run(history, `lost-${++imported}`)),
    { numRuns: cases(20) },
  );

const callIds = { call_id: fc.constantFrom('c1', 'c2') };

const openAiPart = fc.oneof(
  withExtras(fc.record({ type: fc.constantFrom('input_text', 'output_text', 'text'), text: leaf })),
  withExtras(fc.record({ type: is('refusal'), refusal: leaf })),
  withExtras(fc.record({ type: is('input_image'), image_url: is(image) }), ['detail']),
  fc.record({ type: is('input_image'), image_url: is(image), detail: fc.constantFrom('low', 'high') }),
  withExtras(fc.record({ type: is('input_file'), file_id: leaf })),
  withExtras(fc.record({ type: is('input_file'), file_url: is(image), filename: leaf })),
  withExtras(fc.record({ type: is('input_audio'), input_audio: leaf })),
);
const openAiContent = fc.oneof(leaf, list(openAiPart));
const openAiItem = fc.oneof(
  withExtras(fc.record({ role: fc.constantFrom('user', 'assistant', 'system', 'developer'), content: openAiContent })),
  withExtras(
    fc.record({ type: is('message'), role: is('assistant'), status: is('incomplete'), content: list(openAiPart) }),
  ),
  withExtras(fc.record({ type: is('function_call'), ...callIds, name: is('f'), arguments: leaf })),
  withExtras(fc.record({ type: is('custom_tool_call'), ...callIds, name: is('f'), input: leaf })),
  withExtras(fc.record({ type: is('function_call_output'), ...callIds, output: openAiContent })),
  withExtras(
    fc.record({
      type: is('reasoning'),
      summary: fc.array(withExtras(fc.record({ type: is('summary_text'), text: leaf })), { maxLength: 2 }),
      encrypted_content: leaf,
      content: fc.array(fc.record({ type: is('reasoning_text'), text: leaf }), { maxLength: 1 }),
    }),
  ),
  withExtras(fc.record({ type: is('web_search_call'), action: leaf })),
  withExtras(
    fc.record({
      role: is('assistant'),
      content: fc.constant(null),
      tool_calls: list(
        withExtras(
          fc.record({
            id: is('c1'),
            type: is('function'),
            function: withExtras(fc.record({ name: is('f'), arguments: leaf })),
          }),
        ),
      ),
    }),
  ),
  withExtras(fc.record({ role: is('assistant'), content: fc.constant(null), refusal: leaf })),
  withExtras(fc.record({ role: is('tool'), tool_call_id: is('c1'), content: openAiContent }), ['name']),
);

const metadata = fc.record({ anthropic: fc.record({ signature: leaf }) });
const uiPart = fc.oneof(
  withExtras(fc.record({ type: is('text'), text: leaf, providerMetadata: metadata })),
  withExtras(fc.record({ type: is('text'), text: leaf })),
  withExtras(fc.record({ type: is('reasoning'), text: leaf, providerMetadata: metadata })),
  withExtras(fc.record({ type: is('file'), mediaType: is('image/png'), url: is(image), filename: leaf })),
  withExtras(fc.record({ type: is('source-url'), sourceId: leaf, url: leaf, title: leaf })),
  withExtras(fc.record({ type: is('data-x'), data: leaf })),
  fc.record({ type: is('step-start') }),
  withExtras(
    fc.record({
      type: is('tool-f'),
      toolCallId: leaf,
      input: fc.record({ at: leaf }),
      output: leaf,
      state: fc.constantFrom('output-available', 'input-available', 'output-error', 'approval-requested'),
      errorText: leaf,
      callProviderMetadata: metadata,
      rawInput: leaf,
      resultProviderMetadata: metadata,
    }),
  ),
  withExtras(
    fc.record({
      type: is('dynamic-tool'),
      toolName: is('g'),
      toolCallId: leaf,
      input: fc.record({ at: leaf }),
      state: is('output-denied'),
      approval: fc.record({ id: leaf, reason: leaf }),
    }),
  ),
);
const uiMessage = withExtras(
  fc.record({ role: fc.constantFrom('user', 'assistant', 'system'), parts: fc.array(uiPart, { maxLength: 5 }) }),
);

const block = fc.oneof(
  leaf,
  withExtras(fc.record({ type: is('text'), text: leaf })),
  withExtras(fc.record({ type: is('image_url'), image_url: fc.record({ url: is(image), detail: is('low') }) })),
  withExtras(fc.record({ type: is('image'), source_type: is('url'), url: is(image), mime_type: is('image/png') })),
  withExtras(fc.record({ type: is('thinking'), thinking: leaf, signature: leaf })),
  withExtras(fc.record({ type: is('search_result'), source: leaf })),
);
const blocks = fc.oneof(leaf, list(block));
const fields = {
  additional_kwargs: fc.dictionary(fc.constantFrom('reasoning_content', 'audio'), leaf, {
    maxKeys: 1,
    noNullPrototype: true,
  }),
  response_metadata: fc.record({ stop_reason: leaf }),
};
const callIdOf = fc.constantFrom('c1', 'c2');
const baseMessage: fc.Arbitrary<BaseMessage> = fc.oneof(
  fc.record({ content: blocks, id: leaf, name: leaf, ...fields }).map((one) => new HumanMessage(one as never)),
  fc.record({ content: blocks, ...fields }).map((one) => new SystemMessage(one as never)),
  fc
    .record({
      content: blocks,
      id: leaf,
      ...fields,
      tool_calls: fc.array(fc.record({ id: callIdOf, name: is('f'), args: fc.record({ at: leaf }) }), { maxLength: 2 }),
      invalid_tool_calls: fc.array(fc.record({ id: leaf, args: leaf, error: leaf }), { maxLength: 1 }),
    })
    .map((one) => new AIMessage(one as never)),
  fc
    .record({
      content: blocks,
      tool_call_id: callIdOf,
      artifact: leaf,
      ...fields,
      status: fc.constantFrom('error', 'success'),
    })
    .map((one) => new ToolMessage(one as never)),
);

describe('everything that a history says is in the thread, or in a note of the import', () => {
  test('OpenAI', () =>
    check(fc.tuple(extras, list(openAiItem)), async ([more, data], id) => {
      const items = { ...more, object: 'list', data };
      const copy = await log.threads.import({ format: 'openai', items }, { id }).catch((error: Error) => {
        expect(error.message).toContain('order=asc');
        return undefined;
      });
      if (copy) await expectNothingLost({ ...more, items: data } as Value, copy);
    }));

  test('AI SDK', () =>
    check(list(uiMessage), async (messages, id) => {
      const copy = await log.threads.import({ format: 'ai-sdk', messages }, { id });
      await expectNothingLost({ messages } as Value, copy);
    }));

  test('LangGraph', () =>
    check(list(baseMessage), async (messages, id) => {
      const checkpoint = { id: 'x', ts: '2026-11-01T00:00:00Z', channel_values: { messages } };
      const checkpointer = { getTuple: () => Promise.resolve({ checkpoint }) };
      const copy = await log.threads.import({ format: 'langgraph', checkpointer, threadId: 'x' }, { id });
      const sources = messages.map((message) => (JSON.parse(JSON.stringify(message)) as { kwargs: Value }).kwargs);
      await expectNothingLost({ messages: sources }, copy);
    }));
});
