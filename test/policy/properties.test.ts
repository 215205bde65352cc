import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Message } from '../../src/agent/context/message.ts';
import { type DroppedRange, summaryMark } from '../../src/agent/policy/groups.ts';
import { heuristicTokens } from '../../src/agent/policy/estimate.ts';
import { cases } from '../support/cases.ts';
import { assistant, cut, placed, system, user } from './given.ts';

/** What happens next in a conversation; `calls` are the calls of a tool group. */
const happening = fc.record({
  what: fc.constantFrom('ask', 'steer', 'answer', 'group', 'skill'),
  size: fc.integer({ min: 0, max: 300 }),
  calls: fc.integer({ min: 1, max: 3 }),
});
type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never;

interface Conversation {
  messages: Message[];
  marks: Record<number, string>;
  /** Indices of the messages that belong together. */
  groups: number[][];
  /** How many messages there are at each call of the model. */
  calls: number[];
}

function conversation(prompt: boolean, summary: boolean, happenings: Happening[]): Conversation {
  const messages: Message[] = prompt ? [system('Help.')] : [];
  const marks: Record<number, string> = {};
  if (summary) marks[messages.push(user('In short: …')) - 1] = summaryMark;
  const [groups, calls]: [number[][], number[]] = [[], []];
  for (const { what, size, calls: count } of [{ what: 'ask', size: 10, calls: 1 }, ...happenings]) {
    const text = 'x'.repeat(size);
    const start = messages.length;
    if (what === 'answer') messages.push(assistant(text));
    else if (what === 'ask' || what === 'steer') messages.push(user(text));
    else {
      // providers repeat the ids of calls
      const ids = Array.from({ length: count }, (_, n) => `call_${n}`);
      const made = ids.map((id) => ({ id, name: 'look', arguments: {} }));
      messages.push({ role: 'assistant', content: text, tool_calls: made });
      for (const id of ids) messages.push({ role: 'tool', content: text, tool_call_id: id, name: 'look' });
    }
    if (what === 'steer') marks[start] = 'steer';
    if (what === 'skill') marks[start + 1] = 'skill_activation';
    groups.push(messages.slice(start).map((_, i) => start + i));
    if (what !== 'answer') calls.push(messages.length);
  }
  return { messages, marks, groups, calls };
}

const conversations = fc
  .tuple(fc.boolean(), fc.boolean(), fc.array(happening, { maxLength: 40 }))
  .map((of) => conversation(...of));

const policies = fc.record({
  maxInputTokens: fc.option(fc.integer({ min: 1, max: 1_500 })),
  maxMessages: fc.oneof(fc.constant(0), fc.integer({ min: 4, max: 20 })),
  keepLastTurns: fc.integer({ min: 0, max: 4 }),
  includeKinds: fc.constantFrom(
    ['message', 'tool_call', 'tool_result', 'summary'] as const,
    ['message', 'summary'] as const,
  ),
});

const options = fc.record({
  toolTokens: fc.integer({ min: 0, max: 50 }),
  lowWater: fc.double({ min: 0.3, max: 1, noNaN: true }),
  ceiling: fc.option(fc.integer({ min: 100, max: 2_000 })),
});

/** Every call of a conversation under a policy, each with the cut that the answer before it recorded. */
function* callsOf(
  { messages, marks, calls }: Conversation,
  policy: typeof policies extends fc.Arbitrary<infer T> ? T : never,
  how: typeof options extends fc.Arbitrary<infer T> ? T : never,
) {
  let dropped: DroppedRange[] = [];
  for (const count of calls) {
    const given = { ...policy, includeKinds: [...policy.includeKinds] };
    const done = cut(placed(messages.slice(0, count), marks), given, { ...how, dropped });
    dropped = JSON.parse(JSON.stringify(done.dropped)) as DroppedRange[];
    yield { count, ...done };
  }
}

const costOf = (messages: Message[], indices: number[]) => ({
  tokens: indices.reduce((sum, i) => sum + heuristicTokens(messages[i]!), 0),
  messages: indices.filter((i) => messages[i]!.role !== 'system').length,
});

test('a request has groups whole or not at all, the newest question, and its budget, or says that it exceeds it', () => {
  fc.assert(
    fc.property(conversations, policies, options, (of, policy, how) => {
      for (const { count, sent, included, meta } of callsOf(of, policy, how)) {
        for (const group of of.groups.filter((indices) => indices[0]! < count)) {
          expect(new Set(group.map((i) => included[i])).size).toBe(1);
        }
        const question = of.messages.findLastIndex((m, i) => i < count && m.role === 'user' && !of.marks[i]);
        expect(included[question]).toBe(true);
        if (of.messages[0]!.role === 'system') expect(included[0]).toBe(true);
        const cost = costOf(of.messages, sent);
        expect(meta.estimated_tokens).toBe(cost.tokens);
        const exceeds =
          cost.tokens + how.toolTokens > (policy.maxInputTokens ?? Infinity) ||
          cost.messages > (policy.maxMessages || Infinity);
        expect(meta.over_budget).toBe(exceeds);
      }
    }),
    { numRuns: cases(60) },
  );
});

test('a cut stays while what it lets through fits: until then a request begins with the one before it', () => {
  fc.assert(
    fc.property(conversations, policies, options, (of, policy, how) => {
      let before: { count: number; sent: number[] } = { count: 0, sent: [] };
      for (const { count, sent, moved } of callsOf(of, policy, how)) {
        const left = new Set(
          policy.includeKinds.length < 4 ? of.groups.filter((group) => group.length > 1).flat() : [],
        );
        const grown = of.messages.slice(before.count, count).map((_, i) => before.count + i);
        const expected = [...before.sent, ...grown.filter((i) => !left.has(i))];
        const cost = costOf(of.messages, expected);
        const full =
          cost.tokens + how.toolTokens > (policy.maxInputTokens ?? Infinity) ||
          cost.messages > (policy.maxMessages || Infinity);
        if (!full) expect(sent).toEqual(expected);
        expect(moved && !full).toBe(false);
        // never brings back what an earlier request left out
        expect(sent.filter((i) => !expected.includes(i))).toEqual([]);
        before = { count, sent };
      }
    }),
    { numRuns: cases(60) },
  );
});
