import { APICallError, type LanguageModelV4 } from '@ai-sdk/provider';
import { createLanefold, defineAgent } from 'lanefold';
import { setTimeout as delay } from 'node:timers/promises';
import type { Servers } from '../setup.ts';
import { backends, type Backend } from '../support/backends.ts';
import { instantModel, text400 } from '../workload.ts';
import { setLimits } from './set-limits.ts';

const windowMs = 6_000;
const allowed = { requests: 600, tokens: 120_000 };
const measuredMs = 30_000;
const agent = defineAgent({ name: 'caller', model: 'strict:m', settings: { maxOutputTokens: 120 } });

/** A provider that counts requests and tokens in a sliding window, and refuses with 429 what exceeds either. */
class StrictProvider {
  readonly #calls: { at: number; tokens: number }[] = [];
  refused = 0;
  answered = 0;
  tokens = 0;

  readonly model: LanguageModelV4 = {
    ...instantModel(0),
    doStream: async (request) => {
      const now = performance.now();
      while (this.#calls.length > 0 && this.#calls[0]!.at <= now - windowMs) this.#calls.shift();
      const used = this.#calls.reduce((sum, { tokens }) => sum + tokens, 0);
      const tokens = tokensPerCall;
      if (this.#calls.length >= allowed.requests || used + tokens > allowed.tokens) {
        this.refused++;
        const retryAfter = { 'retry-after-ms': String(Math.ceil(this.#calls[0]!.at + windowMs - now)) };
        throw new APICallError({ ...refusal, responseHeaders: retryAfter });
      }
      this.#calls.push({ at: now, tokens });
      this.answered++;
      this.tokens += tokens;
      await delay(100);
      return instantModel(0).doStream(request);
    },
  };
}

/** What `instantModel` reports for a call. */
const tokensPerCall = 200;
const refusal = {
  message: 'Too many requests',
  url: 'http://strict',
  requestBodyValues: {},
  statusCode: 429,
  isRetryable: true,
};

/** As many runs as a provider lets pass, with limits that say what it lets pass: how many calls does it refuse? */
export async function provider(servers: Servers): Promise<void> {
  for (const backend of backends(servers)) await saturate(backend, await servers.database());
}

async function saturate({ name, redisUrl }: Backend, databaseUrl: string): Promise<void> {
  const scope = { provider: 'strict' };
  await setLimits(databaseUrl, {
    requests: { kind: 'requests', scope, amount: allowed.requests, per_ms: windowMs },
    tokens: { kind: 'tokens', scope, amount: allowed.tokens, per_ms: windowMs },
  });
  const strict = new StrictProvider();
  const lanefold = await createLanefold({
    ...{ databaseUrl, redisUrl, queuePrefix: `strict-${name.toLowerCase()}` },
    ...{ agents: [agent], models: { strict: () => strict.model } },
  });
  await lanefold.startWorker({ concurrency: 64 });
  const ask = async () => lanefold.runs.wait(await lanefold.runs.enqueue({ agent: 'caller', input: text400 }));
  const keepAsking = async (ms: number) => {
    const end = performance.now() + ms;
    const one = async () => {
      while (performance.now() < end) await ask();
    };
    await Promise.all(Array.from({ length: 64 }, one));
  };
  await keepAsking(windowMs);
  const before = { answered: strict.answered, refused: strict.refused };
  await keepAsking(measuredMs);
  const answered = strict.answered - before.answered;
  const refused = strict.refused - before.refused;
  const used = answered / ((allowed.requests * measuredMs) / windowMs);
  console.log(
    `\nA provider that enforces ${allowed.requests} requests in ${windowMs / 1_000} s, queue in ${name}: ${refused} of ${answered + refused} calls refused ` +
      `(${((100 * refused) / (answered + refused)).toFixed(2)} %; goal under 1 %), ${(100 * used).toFixed(0)} % of it used (goal 90 %)`,
  );
  await lanefold.close();
}
