import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { randomOf } from '../random.ts';
import { eventsOf, oddAnswers, pickOdd, plainAnswer, type Answer } from './answers.ts';
import { requestProblem } from './request-problem.ts';
import { parseJson } from '../../common/json.ts';
import { delay } from '../../common/timer.ts';
import { startLocalServer } from '../services/local-server.ts';

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
