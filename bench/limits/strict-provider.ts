import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { defineAgent } from 'lanefold';
import { eventsOf } from '../../src/ops/chaos/provider.ts';
import { startLocalServer } from '../../src/ops/chaos/services/proxy.ts';

/** What the provider lets pass in its interval. */
export const allowed = { requests: 240, tokens: 48_000, windowMs: 6_000 };
const tokensPerCall = 200;
const answerMs = 100;
const usage = { prompt_tokens: 150, completion_tokens: 50, total_tokens: tokensPerCall };

export const strictAgent = defineAgent({ name: 'caller', model: 'strict:m', settings: { maxOutputTokens: 120 } });

export const strictModels = (baseURL: string) => {
  const provider = createOpenAICompatible({ name: 'strict', baseURL, includeUsage: true });
  return { strict: (id: string) => provider(id) };
};

/** A provider that counts every request and its tokens in a sliding window, and refuses with 429 what exceeds either. */
export async function startStrictProvider() {
  const window: number[] = [];
  const counts = { answered: 0, refused: 0 };
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    request.resume();
    await once(request, 'end');
    const now = performance.now();
    while (window.length > 0 && window[0]! <= now - allowed.windowMs) window.shift();
    if (window.length >= allowed.requests || (window.length + 1) * tokensPerCall > allowed.tokens) {
      counts.refused++;
      response.writeHead(429, { 'retry-after-ms': String(Math.ceil(window[0]! + allowed.windowMs - now)) });
      response.end('{"error":{"message":"Too many requests","type":"rate_limit"}}');
      return;
    }
    window.push(now);
    counts.answered++;
    // a caller that has died is counted all the same
    await delay(answerMs);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end([...eventsOf({ text: 'Done.' }, usage)].join(''));
  };
  const server = await startLocalServer(answer);
  return {
    url: server.url,
    counts,
    close: server.close,
  };
}
