import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModelV4, LanguageModelV4Prompt } from '@ai-sdk/provider';

type Fetch = typeof globalThis.fetch;
type Body = Record<string, unknown>;

const baseURL = 'http://127.0.0.1:9/v1';
const apiKey = 'test';

const models: Record<string, (fetch: Fetch) => LanguageModelV4> = {
  'chat completions': (fetch) => createOpenAICompatible({ name: 'compatible', baseURL, apiKey, fetch })('model'),
  'OpenAI Responses': (fetch) => createOpenAI({ baseURL, apiKey, fetch })('gpt-5'),
  Anthropic: (fetch) => createAnthropic({ baseURL, apiKey, fetch })('claude-sonnet-4-5'),
  Google: (fetch) => createGoogleGenerativeAI({ baseURL, apiKey, fetch })('gemini-3-pro'),
};

/** The APIs whose clients the product brings along. */
export const apis = Object.keys(models);

/** A model of an API; it cannot be called. */
export const modelOf = (api: string): LanguageModelV4 => models[api]!(fetch);

/** The body of the request that the client of an API makes of a prompt. */
export async function sentRequest(api: string, prompt: LanguageModelV4Prompt): Promise<Body> {
  let body: string | undefined;
  const sent = new Error('The request is known.');
  const model = models[api]!(async (_, init) => {
    body = init?.body as string;
    throw sent;
  });
  await Promise.resolve(model.doGenerate({ prompt })).catch((error: unknown) => {
    if (body === undefined) throw error;
  });
  return JSON.parse(body!) as Body;
}

/** The messages of that request: `messages`, `input` or `contents`. */
export async function sentMessages(api: string, prompt: LanguageModelV4Prompt): Promise<Body[]> {
  const { messages, input, contents } = await sentRequest(api, prompt);
  return (messages ?? input ?? contents) as Body[];
}
