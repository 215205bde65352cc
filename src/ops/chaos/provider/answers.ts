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
  /** What the model thought, in `reasoning_content`. */
  reasoning?: string;
  calls?: WrittenCall[];
  /** Default: `tool_calls` with calls, else `stop`. */
  finish?: string;
  /** The connection breaks after the answer, or an event of it is not JSON, and is the last one or not. */
  breaks?: 'off' | 'json' | 'one event';
  /** Default: what the provider says. */
  usage?: 'none' | 'zero';
  /** An error with this status. */
  status?: number;
  code?: string;
  /** The header `retry-after` of an error; default: 0. */
  retryAfter?: string;
}

const look = (args: string, id = 'call_1', name = 'look'): WrittenCall => ({ id, name, args });
const good = '{"ms":5}';
/** The beginning of the ids of calls that must not run, in the check of a campaign too. */
export const neverRuns = 'never_';
const never = (args: string, n = 1): WrittenCall => look(args, `${neverRuns}${n}`);

/** Answers that providers have given, and must not give. */
export const oddAnswers: Readonly<Record<string, Answer>> = {
  'arguments that end too soon': { calls: [never('{"ms": 5')] },
  'arguments that are a list': { calls: [never('[5]')] },
  'arguments that are an empty list': { calls: [never('[]')] },
  'arguments that are null': { calls: [never('null')] },
  'arguments that are a text': { calls: [never('"five"')] },
  'arguments of 3,000 levels': { calls: [look(`{"ms":5,"deep":${'['.repeat(3_000)}${']'.repeat(3_000)}}`)] },
  'a whole number beyond 2^53': { calls: [look('{"ms":5,"id":2512292042121000001}')] },
  'no arguments': { calls: [look('')] },
  'a number beyond all numbers': { calls: [look('{"ms": 1e999}')] },
  'a text that was cut': { text: 'It is because of', finish: 'length' },
  'calls that were cut': { calls: [never(good), never('{"m', 2)], finish: 'length' },
  'whole calls of an answer that was cut': { text: 'I', calls: [never(good), never(good, 2)], finish: 'length' },
  nothing: {},
  'only reasoning': { reasoning: 'They ask me to look, so I think about it.' },
  'a blank text': { text: ' \n\u3000' },
  'two calls with one id': { calls: [look(good), look(good, 'call_1', 'charge')] },
  'the id of an earlier call': { calls: [look(good, 'call_1'), look(good, 'call_2', 'send')] },
  'a call without an id': { calls: [look(good, '')] },
  'the id of a call by its place': { calls: [look(good, 'functions.look:0')] },
  'an id of two parts': { calls: [look(good, 'call_abc|fc_0123')] },
  'an unknown tool': { calls: [look(good, 'call_1', 'no_such_tool')] },
  'a tool whose name is no name': { calls: [look(good, 'call_1', 'look it up, please!')] },
  'a tool with a long name': { calls: [look(good, 'call_1', 'look_'.repeat(50))] },
  'a tool whose name is XML': { calls: [look(good, 'call_1', '<function=look>')] },
  'tool_calls without calls': { text: 'I will look.', finish: 'tool_calls' },
  'tool_calls with nothing': { finish: 'tool_calls' },
  'calls that end with stop': { text: 'Looking.', calls: [look(good)], finish: 'stop' },
  'an unknown end': { text: 'So', finish: 'tired' },
  'an answer that breaks off': { text: 'First', calls: [look(good)], breaks: 'off' },
  'an answer that is no JSON': { text: 'First', breaks: 'json' },
  'an event that is cut': { text: 'First', breaks: 'one event' },
  'no usage': { text: 'Free.', usage: 'none' },
  'a usage of zero': { calls: [look(good)], usage: 'zero' },
  'an error of the provider': { status: 500 },
  'too many requests': { status: 429 },
  'a wait of less than nothing': { status: 429, retryAfter: '-100' },
  'two waits in one header': { status: 503, retryAfter: '0, 0' },
  'a wait until a date that is over': { status: 429, retryAfter: 'Thu, 01 Jan 1970 00:00:00 GMT' },
  'a context that is too long': { status: 400, code: 'context_length_exceeded' },
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
  const { text, reasoning, calls = [], finish = calls.length > 0 ? 'tool_calls' : 'stop' } = answer;
  yield chunk({ role: 'assistant', content: '' });
  if (reasoning !== undefined) yield chunk({ reasoning_content: reasoning });
  if (text !== undefined) yield chunk({ content: text });
  for (const [index, { id, name, args }] of calls.entries())
    yield chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: args } }] });
  if (answer.breaks === 'json' || answer.breaks === 'one event') yield 'data: {"choices": [\n\n';
  if (answer.breaks === 'json' || answer.breaks === 'off') return;
  yield chunk({}, finish);
  const reported = answer.usage === 'zero' ? { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } : usage;
  if (answer.usage !== 'none') yield `data: ${JSON.stringify({ ...base, choices: [], usage: reported })}\n\n`;
  yield 'data: [DONE]\n\n';
}
