import { saysNothing } from '../../../agent/models/sending/acceptable.ts';
import { parseJson } from '../../../base/common/json.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { randomOf } from '../random.ts';
import { eventsOf, oddAnswers, pickOdd, plainAnswer, type Answer } from './answers.ts';
import { delay } from '../../../base/common/timer.ts';
import { startLocalServer } from '../services/local-server.ts';

/** A message of a chat completion, as far as providers refuse it. */
interface SentMessage {
  role?: string;
  content?: unknown;
  tool_calls?: { id?: unknown; function?: { name?: unknown; arguments?: unknown } }[];
  tool_call_id?: unknown;
}

/**
 * Why a strict provider of chat completions would refuse these messages; undefined if it would not. It refuses what any
 * of those in docs/providers.md refuses.
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
    const value: unknown = parseJson(text as string);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
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

interface Provider {
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
      ...{ no, model: body.model, thread_id: threadId, pid: Number(request.headers['x-chaos-pid']), at, ended_at: at },
      ...{ tokens: usage.total_tokens, problem: requestProblem(body.messages) ?? null, odd: odd ?? null },
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
