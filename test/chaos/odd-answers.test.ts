import { expect, test } from 'vitest';
import { eventsOf, neverRuns, oddAnswers, type Answer, requestProblem } from '../../src/ops/chaos/provider.ts';

/** The message that an odd answer becomes if it is sent back as it was written, with a result for each of its calls. */
function sentBack({ text = '', calls = [] }: Answer): object[] {
  const written = calls.map(({ id, name, args }) => ({ id, function: { name, arguments: args } }));
  return [
    { role: 'assistant', content: text, tool_calls: written },
    ...calls.map(({ id }) => ({ role: 'tool', content: 'ok', tool_call_id: id })),
  ];
}

/** What a strict provider refuses of its own answers, whatever else it refuses. */
const refused: Record<string, string> = {
  'arguments that end too soon': 'are not a JSON object',
  'arguments that are a list': 'are not a JSON object',
  'arguments that are an empty list': 'are not a JSON object',
  'arguments that are null': 'are not a JSON object',
  'arguments that are a text': 'are not a JSON object',
  'no arguments': 'are not a JSON object',
  'calls that were cut': 'are not a JSON object',
  nothing: 'is empty',
  'only reasoning': 'is empty',
  'a blank text': 'is empty',
  'tool_calls with nothing': 'is empty',
  'two calls with one id': 'two calls with one id',
  'a call without an id': 'has no id',
  'a tool whose name is no name': 'name of a call is not valid',
  'a tool with a long name': 'name of a call is not valid',
  'a tool whose name is XML': 'name of a call is not valid',
};

test.each(Object.entries(refused))(
  'a strict provider refuses %s, if it is sent back as it was written',
  (name, why) => {
    expect(requestProblem(sentBack(oddAnswers[name]!))).toContain(why);
  },
);

const isObject = (args: string): boolean => {
  try {
    const value: unknown = JSON.parse(args);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
};

test('the calls that must not run, and no others, have ids that say so', () => {
  for (const [name, { calls = [], finish }] of Object.entries(oddAnswers))
    for (const { id, args } of calls) {
      const mustNotRun = finish === 'length' || (args !== '' && !isObject(args));
      expect(id.startsWith(neverRuns), name).toBe(mustNotRun);
    }
});

test('an answer is written with what is odd about it', () => {
  const usage = { total_tokens: 180 };
  const written = (name: string) => [...eventsOf(oddAnswers[name]!, usage)];
  expect(written('only reasoning').join('')).toContain('"reasoning_content":"They ask');
  expect(written('no usage').join('')).not.toContain('usage');
  expect(written('a usage of zero').join('')).toContain('"total_tokens":0');
  const cut = written('an event that is cut');
  expect(cut).toContain('data: {"choices": [\n\n');
  expect(cut.at(-1)).toBe('data: [DONE]\n\n');
  expect(written('an answer that is no JSON').at(-1)).toBe('data: {"choices": [\n\n');
});
