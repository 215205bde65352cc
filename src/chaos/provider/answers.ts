import type { Random } from '../random.ts';

/** A call as a provider writes it. */
interface WrittenCall {
  id: string;
  name: string;
  args: string;
}

/** What a provider answers. */
export interface Answer {
  text?: string;
  calls?: WrittenCall[];
  /** Default: `tool_calls` with calls, else `stop`. */
  finish?: string;
  /** Instead of an answer, or in the middle of it: the connection breaks, or the answer is no JSON. */
  breaks?: 'off' | 'json';
  /** An error with this status. */
  status?: number;
}

const look = (args: string, id = 'call_1', name = 'look'): WrittenCall => ({ id, name, args });
const good = '{"ms":5}';

/** Answers that providers have given, and must not give. */
export const oddAnswers: Readonly<Record<string, Answer>> = {
  'arguments that end too soon': { calls: [look('{"ms": 5')] },
  'arguments that are a list': { calls: [look('[5]')] },
  'arguments that are a text': { calls: [look('"five"')] },
  'no arguments': { calls: [look('')] },
  'a number beyond all numbers': { calls: [look('{"ms": 1e999}')] },
  'a text that was cut': { text: 'It is because of', finish: 'length' },
  'calls that were cut': { calls: [look(good), look('{"m', 'call_2')], finish: 'length' },
  nothing: {},
  'a blank text': { text: ' \n\u3000' },
  'two calls with one id': { calls: [look(good), look(good, 'call_1', 'charge')] },
  'the id of an earlier call': { calls: [look(good, 'call_1'), look(good, 'call_2', 'send')] },
  'a call without an id': { calls: [look(good, '')] },
  'an unknown tool': { calls: [look(good, 'call_1', 'no_such_tool')] },
  'a tool whose name is no name': { calls: [look(good, 'call_1', 'look it up, please!')] },
  'tool_calls without calls': { text: 'I will look.', finish: 'tool_calls' },
  'tool_calls with nothing': { finish: 'tool_calls' },
  'calls that end with stop': { text: 'Looking.', calls: [look(good)], finish: 'stop' },
  'an unknown end': { text: 'So', finish: 'tired' },
  'an answer that breaks off': { text: 'First', calls: [look(good)], breaks: 'off' },
  'an answer that is no JSON': { text: 'First', breaks: 'json' },
  'an error of the provider': { status: 500 },
  'too many requests': { status: 429 },
};

/** The name of an odd answer, or undefined: the run has had enough of them. */
export const pickOdd = (random: Random, turn: number): string | undefined =>
  turn < 3 && random.chance(0.85) ? random.pick(Object.keys(oddAnswers)) : undefined;

/** The answer of a provider that has no quirks: up to two rounds of a call, which its thread decides. */
export const plainAnswer = (random: Random, turn: number, no: number): Answer =>
  turn < 2 && random.chance(0.4)
    ? { text: `Answer ${no}, I look.`, calls: [look('{"ms":20}', `call_${no}`)] }
    : { text: `Answer ${no}.` };

/** The events of a streamed chat completion. */
export function* eventsOf(answer: Answer, usage: object): Generator<string> {
  const base = { id: 'chatcmpl', object: 'chat.completion.chunk', created: 1, model: 'chaos' };
  const chunk = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ ...base, choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  const { text, calls = [], finish = calls.length > 0 ? 'tool_calls' : 'stop' } = answer;
  yield chunk({ role: 'assistant', content: '' });
  if (text !== undefined) yield chunk({ content: text });
  for (const [index, { id, name, args }] of calls.entries())
    yield chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: args } }] });
  if (answer.breaks === 'json') yield 'data: {"choices": [\n\n';
  if (answer.breaks !== undefined) return;
  yield chunk({}, finish);
  yield `data: ${JSON.stringify({ ...base, choices: [], usage })}\n\n`;
  yield 'data: [DONE]\n\n';
}
