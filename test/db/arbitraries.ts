import fc from 'fast-check';
import type { Json, JsonObject } from '../../src/agent/context/message.ts';
import { cleanJson, isBlank } from '../../src/base/checks/values.ts';

/** Any JSON PostgreSQL can store. */
export const anyJson: fc.Arbitrary<Json> = fc
  .jsonValue({ maxDepth: 2, stringUnit: 'binary' })
  .map((value) => cleanJson(value as Json).value);

export const anyText = fc.string({ unit: 'binary', maxLength: 12 }).map((value) => cleanJson(value).value);

const part = fc.oneof(
  fc.record({ type: fc.constant('text'), text: anyText }),
  fc.record({
    type: fc.constant('file'),
    media_type: fc.constant('image/png'),
    data: fc.base64String({ minLength: 4 }),
    own: anyJson,
  }),
  fc.record({ type: fc.constant('file'), media_type: anyText, url: fc.webUrl() }),
);

const content = fc.oneof(anyText, fc.array(part, { maxLength: 3 }), fc.constant(null));

/** What a user may say: nothing blank. */
const said = fc.oneof(
  anyText.filter((text) => !isBlank(text)),
  fc.array(
    part.filter((one) => !('text' in one) || !isBlank(one.text)),
    { minLength: 1, maxLength: 3 },
  ),
);

const extras = fc.record(
  {
    name: anyText,
    thinking: fc.option(anyText),
    reasoning_details: fc.oneof(anyJson, fc.constant(null), fc.constant([])),
    provider_metadata: fc.oneof(fc.dictionary(anyText, anyJson, { maxKeys: 2 }), fc.constant(null)),
  },
  { requiredKeys: [] },
);

const call = fc.record(
  {
    id: fc.constantFrom('c1', 'c2', 'c3'),
    name: fc.constantFrom('search', 'read'),
    arguments: anyJson,
    arguments_raw: anyText,
    provider_metadata: fc.dictionary(anyText, anyJson, { maxKeys: 2 }),
  },
  { requiredKeys: ['id', 'name', 'arguments'] },
);

const message = (role: string, more: fc.Arbitrary<object> = fc.constant({})) =>
  fc
    .tuple(role === 'user' ? said : content, extras, more)
    .map(([c, e, m]) => ({ role, content: c, ...e, ...m }) as unknown as JsonObject);

/** An assistant message with calls and one result for each, in call order; ids may repeat within the group. */
export const toolGroup: fc.Arbitrary<JsonObject[]> = fc
  .array(call, { minLength: 1, maxLength: 3 })
  .chain((calls) =>
    fc
      .tuple(
        message('assistant', fc.constant({ tool_calls: calls })),
        ...calls.map((c) => message('tool', fc.constant({ tool_call_id: c.id }))),
      )
      .map((group) => group as JsonObject[]),
  );

/** Messages made of closed groups. */
export const closedMessages: fc.Arbitrary<JsonObject[]> = fc
  .array(
    fc.oneof(
      message('user').map((m) => [m]),
      message('assistant', fc.constantFrom({}, { tool_calls: [] }, { tool_calls: null })).map((m) => [m]),
      toolGroup,
    ),
    { maxLength: 3 },
  )
  .map((groups) => groups.flat());
