import { saysNothing } from '../../agent/models/acceptable-prompt.ts';
import { isObject, parseJson } from '../../base/common/json.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { randomOf, type Random } from './schedule.ts';
import { delay } from '../../base/common/timer.ts';
import { startLocalServer } from './services/proxy.ts';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { ModelRegistryOptions } from '../../agent/models/registry.ts';

/** A message of a chat completion, as far as providers refuse it. */
interface SentMessage {
  role?: string;
  content?: unknown;
  tool_calls?: { id?: unknown; function?: { name?: unknown; arguments?: unknown } }[];
  tool_call_id?: unknown;
}

/**
 * Why a strict provider of chat completions would refuse these messages; undefined if it would not. It refuses what any
 * of those in docs/reference/providers.md refuses.
 */
export function requestProblem(messages: readonly SentMessage[]): string | undefined {
  let open: unknown[] = [];
  for (const [i, message] of messages.entries()) {
    const at = `message ${i} (${message.role})`;
    const calls = message.tool_calls ?? [];
    if (hasBlank(message.content)) return `${at} has an empty part`;
    if (calls.length === 0 && isBlank(message.content)) return `${at} is empty`;
    if (message.role === 'tool') {
      if (message.tool_call_id !== open[0]) return `${at} is not the result of the next call`;
      open = open.slice(1);
      continue;
    }
    if (open.length > 0) return `${at} comes before the results of ${open.length} calls`;
    const problem = calls.map((call) => callProblem(call)).find((found) => found !== undefined);
    if (problem !== undefined) return `${at}: ${problem}`;
    open = calls.map(({ id }) => id);
    if (new Set(open).size < open.length) return `${at} has two calls with one id`;
  }
  return open.length > 0 ? `${open.length} calls have no result` : undefined;
}

/** Whether a content is missing, or has no text but white space and nothing else. */
export const isBlank = (content: unknown): boolean =>
  typeof content === 'string' || Array.isArray(content) ? saysNothing(content) : true;

/** Whether one of several parts is a blank text. */
export const hasBlank = (content: unknown): boolean =>
  Array.isArray(content) && content.length > 1 && content.some((part) => saysNothing([part]));

function callProblem({ id, function: called }: NonNullable<SentMessage['tool_calls']>[number]): string | undefined {
  if (typeof id !== 'string' || id === '') return 'a call has no id';
  if (id.length > 40) return 'the id of a call is too long';
  if (!isToolName(called?.name)) return 'the name of a call is not valid';
  return isObjectText(called?.arguments) ? undefined : 'the arguments of a call are not a JSON object';
}

export const isToolName = (name: unknown): boolean => typeof name === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(name);

export function isObjectText(text: unknown): boolean {
  try {
    return isObject(parseJson(text as string));
  } catch {
    return false;
  }
}

/** A model call in the provider's own log. Times are in milliseconds since the epoch. */
export interface ProviderCall {
  no: number;
  model: string;
  thread_id: string;
  /** The process that made it. */
  pid: number;
  /** When it had come, at the latest. */
  at: number;
  /** Until when it was being answered, at least. */
  ended_at: number;
  tokens: number;
  /** Why a strict provider would have refused it. */
  problem: string | null;
  /** The name of the odd answer that it got. */
  odd: string | null;
}

export interface Provider {
  url: string;
  calls: ProviderCall[];
  close(): Promise<void>;
}

/** What each call uses: less than a limit reserves for it. */
const usage = { prompt_tokens: 10, completion_tokens: 170, total_tokens: 180 };
/** How often a question that was asked before is still answered oddly: the answer to a lost call may be lost again. */
const oddTimes = 2;

/** A provider of chat completions with the models `plain` and `odd`. The seed decides its answers. */
export async function startProvider(seed: number): Promise<Provider> {
  const calls: ProviderCall[] = [];
  const asked = new Map<string, number>();
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const body = parseJson(await text(request)) as { model: string; messages: { role: string; content: unknown }[] };
    const at = Date.now();
    const threadId = String(request.headers['x-chaos-thread']);
    const lastUser = body.messages.findLastIndex(({ role }) => role === 'user');
    const turn = body.messages.slice(lastUser).filter(({ role }) => role === 'assistant').length;
    const question = `${threadId} ${lastUser} ${turn}`;
    asked.set(question, (asked.get(question) ?? 0) + 1);
    const random = randomOf(seed, `${body.model} ${question}`);
    const no = calls.length + 1;
    const odd = body.model === 'odd' && asked.get(question)! <= oddTimes ? pickOdd(random, turn) : undefined;
    const call: ProviderCall = {
      no,
      model: body.model,
      thread_id: threadId,
      pid: Number(request.headers['x-chaos-pid']),
      at,
      ended_at: at,
      tokens: usage.total_tokens,
      problem: requestProblem(body.messages) ?? null,
      odd: odd ?? null,
    };
    calls.push(call);
    await delay(random.int(10, 150));
    const given = odd === undefined ? plainAnswer(random, body.model === 'odd' ? 9 : turn, no) : oddAnswers[odd]!;
    call.ended_at = Date.now();
    write(response, given);
  };
  const server = await startLocalServer(answer);
  return {
    url: server.url,
    calls,
    close: server.close,
  };
}

function write(response: ServerResponse, answer: Answer): void {
  if (answer.status !== undefined) {
    const { status, code = null, retryAfter = '0' } = answer;
    response.writeHead(status, { 'content-type': 'application/json', 'retry-after': retryAfter });
    response.end(JSON.stringify({ error: { message: 'Odd.', type: 'odd', code } }));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const body = [...eventsOf(answer, usage)].join('');
  if (answer.breaks === 'off') response.write(body, () => response.destroy());
  else response.end(body);
}

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
const pickOdd = (random: Random, turn: number): string | undefined =>
  turn < 3 && random.chance(0.85) ? random.pick(Object.keys(oddAnswers)) : undefined;

/** The answer of a provider that has no quirks: up to two rounds of a call, which its thread decides. */
const plainAnswer = (random: Random, turn: number, no: number): Answer =>
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

/** The models of the campaign's provider, as `provider:plain` and `provider:odd`. It is told which process calls it. */
export function providerModels(url: string): NonNullable<ModelRegistryOptions['models']> {
  const headers = { 'x-chaos-pid': String(process.pid) };
  const provider = createOpenAICompatible({ name: 'provider', baseURL: url, includeUsage: true, headers });
  return { provider: (id) => provider(id) };
}

/** The headers of a run's calls, which name its thread in the provider's log. */
export const headersOf = (threadId: string): Record<string, string> => ({ 'x-chaos-thread': threadId });
