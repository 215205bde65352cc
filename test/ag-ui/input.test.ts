// @module-tag slow
import { RunAgentInputSchema } from '@ag-ui/core/schemas';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hasHistory } from '../../src/runs/formats/ag-ui/history.ts';
import { patchOf, sameJson } from '../../src/runs/formats/ag-ui/nodes.ts';
import { runAgentInput, clientIdIn, fromQuestion, toQuestion } from '../../src/runs/formats/ag-ui/content.ts';
import type { AgUiMessage, AgUiUserMessage } from '../../src/runs/formats/ag-ui/event.ts';
import { acceptContent } from '../../src/agent/models/accept-content.ts';
import type { Json, JsonObject } from '../../src/agent/context/message.ts';
import { cases } from '../support/cases.ts';
import { clientOf, noWarnings } from './client.ts';

const text = fc.string({ maxLength: 8 });
const id = fc.string({ minLength: 1, maxLength: 8 });
const json = fc.jsonValue({ maxDepth: 2 }).filter((value) => value !== null);
const source = fc.oneof(
  fc.record({ type: fc.constant('data'), value: text, mimeType: text }),
  fc.record({ type: fc.constant('url'), value: text, mimeType: text }, { requiredKeys: ['type', 'value'] }),
  fc.record(
    { type: fc.constant('file'), value: text, provider: text, mimeType: text },
    { requiredKeys: ['type', 'value'] },
  ),
);
const part = fc.oneof(
  fc.record({ type: fc.constant('text'), text }),
  fc.record({ type: fc.constantFrom('image', 'audio', 'video', 'document'), source }),
);
const content = fc.oneof(text, fc.array(part, { maxLength: 2 }));
const call = fc.record({
  id: text,
  type: fc.constant('function'),
  function: fc.record({ name: text, arguments: text }),
});
const message = fc.oneof(
  fc.record({ id, role: fc.constant('user'), content }),
  fc.record(
    { id, role: fc.constant('assistant'), content: text, toolCalls: fc.array(call, { maxLength: 2 }) },
    { requiredKeys: ['id', 'role'] },
  ),
  fc.record(
    { id, role: fc.constant('tool'), toolCallId: text, content, error: text },
    { requiredKeys: ['id', 'role', 'toolCallId', 'content'] },
  ),
  fc.record({ id, role: fc.constantFrom('reasoning', 'system', 'developer'), content: text }),
  fc.record({ id, role: fc.constant('activity'), activityType: text, content: fc.dictionary(text, fc.jsonValue()) }),
);
const input = fc.record(
  {
    threadId: fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._:@-]{0,20}$/),
    runId: id,
    messages: fc.array(message, { maxLength: 4 }),
    tools: fc.array(
      fc.record({ name: text, description: text, parameters: json }, { requiredKeys: ['name', 'description'] }),
      { maxLength: 2 },
    ),
    context: fc.array(fc.record({ description: text, value: text }), { maxLength: 2 }),
    state: fc.jsonValue({ maxDepth: 2 }),
    forwardedProps: json,
    resume: fc.array(
      fc.record(
        { interruptId: text, status: fc.constantFrom('resolved', 'cancelled'), payload: json },
        { requiredKeys: ['interruptId', 'status'] },
      ),
      { maxLength: 2 },
    ),
    protocolVersion: text,
    parentRunId: text,
  },
  { requiredKeys: ['threadId', 'runId', 'messages'] },
);

/** Every place in a value, as the keys that lead to it. */
function placesOf(value: unknown, at: (string | number)[] = []): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [at];
  const inner = Array.isArray(value) ? value.map((item, i) => [i, item] as const) : Object.entries(value);
  return [at, ...inner.flatMap(([key, item]) => placesOf(item, [...at, key]))];
}

function changed(value: unknown, [key, ...rest]: (string | number)[], to: unknown): unknown {
  if (key === undefined) return to;
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string | number, unknown>;
  if (rest.length === 0 && to === undefined && !Array.isArray(value)) delete copy[key];
  else copy[key] = changed(copy[key], rest, to);
  return copy;
}

describe('an input', () => {
  test('is accepted if the protocol’s own schema accepts it', () => {
    fc.assert(
      fc.property(input, (given) => {
        expect(RunAgentInputSchema.safeParse(given).success).toBe(true);
        expect(runAgentInput.safeParse(given).error).toBeUndefined();
      }),
      { numRuns: cases(50) },
    );
  });

  test('is refused if the protocol’s own schema refuses it, whatever is changed in it', () => {
    const runs = cases(200);
    let refused = 0;
    fc.assert(
      fc.property(input, fc.nat(), fc.constantFrom(undefined, null, 7, '', 'x', [], {}, true), (given, n, to) => {
        const places = placesOf(given);
        const value = changed(given, places[n % places.length]!, to);
        // activities and the metadata of messages are the client's own: nothing of them is read
        const theirs = RunAgentInputSchema.safeParse(value).success;
        const ours = runAgentInput.safeParse(value).success;
        if (theirs) return;
        refused += 1;
        expect(ours, JSON.stringify(value)).toBe(false);
      }),
      { numRuns: runs },
    );
    expect(refused).toBeGreaterThan(runs / 10);
  });
});

describe('a patch', () => {
  const state = fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 3 })) as fc.Arbitrary<JsonObject>;

  test('turns one state into the other, as the client applies it', async () => {
    const assertQuiet = noWarnings();
    await fc.assert(
      fc.asyncProperty(state, state, async (before, after) => {
        const delta = patchOf(before, after);
        expect(patchOf(after, after)).toEqual([]);
        if (!delta) return;
        const [started, finished] = ['RUN_STARTED', 'RUN_FINISHED'].map((type) => ({
          type,
          threadId: 't',
          runId: 'r',
        }));
        const events = [started, { type: 'STATE_DELTA', delta }, finished];
        const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
        const { agent } = clientOf({ url: 'http://x', fetch: () => Promise.resolve(new Response(body)) });
        agent.setState(before);
        await agent.runAgent();
        expect(JSON.parse(JSON.stringify(agent.state))).toEqual(JSON.parse(JSON.stringify(after)));
      }),
      { numRuns: cases(50) },
    );
    assertQuiet();
  });

  test('is not made of keys that the client refuses', () => {
    const after = JSON.parse('{"__proto__":{"a":1}}') as JsonObject;
    expect(patchOf({}, after)).toBeUndefined();
    expect(patchOf({ a: { 'b/c~d': 1 } }, { a: { 'b/c~d': 2 } })).toEqual([
      { op: 'replace', path: '/a/b~1c~0d', value: 2 },
    ]);
  });
});

test('a question comes back as the client has sent it, whatever the application says besides', () => {
  const context = fc.array(fc.record({ description: text, value: text }), { maxLength: 2 });
  const sendable = fc.oneof(
    fc.record({ type: fc.constant('text' as const), text: fc.string({ minLength: 1, maxLength: 5 }) }),
    fc.record({
      type: fc.constant('image' as const),
      source: fc.constantFrom(
        { type: 'data' as const, value: 'aGk=', mimeType: 'image/png' },
        { type: 'url' as const, value: 'https://example.com/a.png', mimeType: 'image/png' },
      ),
    }),
  );
  const said = fc.oneof(fc.string({ minLength: 1, maxLength: 5 }), fc.array(sendable, { minLength: 2, maxLength: 3 }));
  fc.assert(
    fc.property(id, said, context, (id, content, context) => {
      const message = { id, role: 'user', content } as AgUiUserMessage;
      const { input, extraRefs } = toQuestion(message, context);
      expect(clientIdIn(extraRefs)).toBe(message.id);
      expect(fromQuestion(acceptContent(input) as Json, extraRefs, message.id)).toEqual(message);
    }),
  );
});

test('a history is the same whatever a client leaves out, renames or moves of what is its own', () => {
  const call = (id: string) => ({ id, type: 'function' as const, function: { name: 'f', arguments: '{}' } });
  const logged: AgUiMessage[] = [
    { id: 'm1', role: 'user', content: 'hi' },
    { id: 'a.reasoning', role: 'reasoning', content: 'Hm.' },
    { id: 'a', role: 'assistant', toolCalls: [call('a#0'), call('a#1')] },
    { id: 'a#0.result', role: 'tool', toolCallId: 'a#0', content: '1' },
    { id: 'a#1.result', role: 'tool', toolCallId: 'a#1', content: '2' },
    { id: 'b', role: 'assistant', content: 'Done.' },
  ];
  const [asked, , made, first, second, last] = logged as [AgUiMessage, ...AgUiMessage[]];
  const client = [
    { id: 's', role: 'system', content: 'x' },
    asked,
    made,
    { ...second, id: 'own' },
    first,
    last,
  ] as AgUiMessage[];
  expect(hasHistory(client, logged, true)).toBe(true);
  expect(hasHistory(client, logged.slice(5), false)).toBe(true);
  expect(hasHistory(client, logged.slice(5), true)).toBe(false);
  expect(hasHistory(client.slice(0, -1), logged, true)).toBe(false);
  expect(hasHistory([...client, { ...asked, id: 'm2' }], logged, true)).toBe(false);
  const other = client.map((message) =>
    message.id === 'b' ? { ...message, content: 'Do' } : message,
  ) as AgUiMessage[];
  expect(hasHistory(other, logged, true)).toBe(false);
  expect(sameJson({ a: [1, { b: null }], c: 1 }, { c: 1, a: [1, { b: null }] })).toBe(true);
  expect(sameJson({ a: undefined }, { b: 1 })).toBe(false);
});
