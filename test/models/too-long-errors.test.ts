import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError } from '@ai-sdk/provider';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { classify } from '../../src/agent/models/classify-error.ts';
import { ModelError } from '../../src/agent/models/model-error.ts';
import { generate } from '../../src/agent/models/generate.ts';
import { startModelServer, type ModelServer } from '../support/openai-server.ts';

let server: ModelServer;
let models: Record<'compatible' | 'openai' | 'anthropic' | 'google', LanguageModelV4>;
beforeAll(async () => {
  server = await startModelServer();
  const at = { baseURL: server.url, apiKey: 'k' };
  models = {
    compatible: createOpenAICompatible({ name: 'c', ...at })('m'),
    openai: createOpenAI(at)('gpt-x'),
    anthropic: createAnthropic(at)('m'),
    google: createGoogleGenerativeAI(at)('m'),
  };
});
afterAll(() => server?.close());

const openai = (message: string, more: object = {}) => ({ error: { message, type: 'invalid_request_error', ...more } });
const code = 'context_length_exceeded';

/** What servers answer, and what they say about the window, the request and the answer. */
const refusals: [who: string, model: keyof typeof models, status: number, body: unknown, said: object][] = [
  [
    ...(['OpenAI, messages and completion', 'compatible', 400] as const),
    openai(
      "This model's maximum context length is 16384 tokens. However, you requested 122946 tokens (112946 in the messages, 10000 in the completion). Please reduce the length of the messages or completion.",
      { code },
    ),
    { window: 16_384, requested: 112_946, answer: 10_000 },
  ],
  [
    ...(['OpenAI, messages', 'compatible', 400] as const),
    openai(
      "This model's maximum context length is 128,000 tokens. However, your messages resulted in 130,500 tokens. Please reduce the length of the messages.",
      { code },
    ),
    { window: 128_000, requested: 130_500 },
  ],
  [
    ...(['OpenAI Responses', 'openai', 400] as const),
    openai('Your input exceeds the context window of this model. Please adjust your input and try again.', {
      code,
      param: 'input',
    }),
    {},
  ],
  [
    ...(['Azure', 'compatible', 400] as const),
    openai('Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 280001 tokens.', {
      code,
    }),
    { requested: 280_001 },
  ],
  [
    ...(['vLLM', 'compatible', 400] as const),
    {
      object: 'error',
      message:
        "This model's maximum context length is 6048 tokens. However, you requested 6616 tokens (568 in the messages, 6048 in the completion).",
      type: 'BadRequestError',
      param: null,
      code: 400,
    },
    { window: 6_048, requested: 568, answer: 6_048 },
  ],
  [
    ...(['vLLM, the prompt', 'compatible', 400] as const),
    openai(
      'The decoder prompt (length 9001) is longer than the maximum model length of 8192. Make sure that `max_model_len` is no smaller than the number of text tokens.',
    ),
    { window: 8_192, requested: 9_001 },
  ],
  [...(['vLLM, nothing left', 'compatible', 400] as const), openai('max_tokens must be at least 1, got -186.'), {}],
  [
    ...(['SGLang', 'compatible', 400] as const),
    { message: "The input (9000 tokens) is longer than the model's context length (8192 tokens).", code: 400 },
    { window: 8_192, requested: 9_000 },
  ],
  [
    ...(['llama.cpp', 'compatible', 400] as const),
    {
      error: {
        code: 400,
        message: 'the request exceeds the available context size, try increasing it',
        type: 'exceed_context_size_error',
        n_prompt_tokens: 14_429,
        n_ctx: 8_192,
      },
    },
    { window: 8_192, requested: 14_429 },
  ],
  [
    ...(['llama.cpp, with a status of 500', 'compatible', 500] as const),
    {
      error: {
        code: 500,
        message: 'request (14429 tokens) exceeds the available context size (8192 tokens), try increasing it',
        type: 'server_error',
      },
    },
    { window: 8_192, requested: 14_429 },
  ],
  [
    ...(['llama-cpp-python', 'compatible', 400] as const),
    openai('Requested tokens (2285) exceed context window of 2048'),
    { window: 2_048, requested: 2_285 },
  ],
  [...(['Ollama', 'compatible', 400] as const), openai('the input length exceeds the context length'), {}],
  [
    ...(['LM Studio', 'compatible', 400] as const),
    {
      error:
        'Trying to keep the first 5003 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.',
    },
    { window: 4_096 },
  ],
  [
    ...(['Together', 'compatible', 422] as const),
    openai(
      'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 5000 `inputs` tokens and 100 `max_new_tokens`',
    ),
    { window: 4_097, requested: 5_000 },
  ],
  [
    ...(['OpenRouter', 'compatible', 400] as const),
    {
      error: {
        message:
          "This endpoint's maximum context length is 131072 tokens. However, you requested about 140200 tokens (130200 of text input, 10000 in the output). Please reduce the length of either one.",
        code: 400,
      },
    },
    { window: 131_072, requested: 130_200, answer: 10_000 },
  ],
  [
    ...(['Groq', 'compatible', 400] as const),
    openai('Please reduce the length of the messages or completion.', { code }),
    {},
  ],
  [
    ...(['Groq, 413', 'compatible', 413] as const),
    openai(
      'Request too large for model `m` in organization `o` on tokens per minute (TPM): Limit 6000, Requested 7012, please reduce your message size and try again.',
      { code: 'rate_limit_exceeded' },
    ),
    { window: 6_000, requested: 7_012 },
  ],
  [
    ...(['Mistral', 'compatible', 400] as const),
    {
      object: 'error',
      message: 'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
      type: 'invalid_request_error',
      code: '3051',
    },
    { window: 32_768, requested: 40_000 },
  ],
  [
    ...(['DeepSeek', 'compatible', 400] as const),
    openai(
      "This model's maximum context length is 65536 tokens. However, you requested 70007 tokens (66007 in the messages, 4000 in the completion). Please reduce the length of the messages or completion.",
    ),
    { window: 65_536, requested: 66_007, answer: 4_000 },
  ],
  [
    ...(['xAI', 'compatible', 400] as const),
    {
      code: 'Client specified an invalid argument',
      error: "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    },
    { window: 131_072, requested: 537_812 },
  ],
  [
    ...(['Moonshot', 'compatible', 400] as const),
    openai('Invalid request: Your request exceeded model token limit: 8192 (requested: 9012)'),
    { window: 8_192, requested: 9_012 },
  ],
  [
    ...(['Anthropic', 'anthropic', 400] as const),
    {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'prompt is too long: 213462 tokens > 200000 maximum' },
    },
    { window: 200_000, requested: 213_462 },
  ],
  [
    ...(['Anthropic, with the answer', 'anthropic', 400] as const),
    {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message:
          'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again',
      },
    },
    { window: 200_000, requested: 190_000, answer: 20_000 },
  ],
  [
    ...(['Anthropic, in bytes', 'anthropic', 413] as const),
    { type: 'error', error: { type: 'request_too_large', message: 'Request exceeds the maximum size' } },
    {},
  ],
  [
    ...(['Google', 'google', 400] as const),
    {
      error: {
        code: 400,
        message: 'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).',
        status: 'INVALID_ARGUMENT',
      },
    },
    { window: 1_048_575, requested: 1_196_265 },
  ],
  [
    ...(['Google, older', 'google', 400] as const),
    {
      error: {
        code: 400,
        message: 'The input token count exceeds the maximum number of tokens allowed 1048576.',
        status: 'INVALID_ARGUMENT',
      },
    },
    { window: 1_048_576 },
  ],
  [
    ...(['Text Generation Inference', 'compatible', 422] as const),
    {
      error: 'Input validation error: `inputs` must have less than 4096 tokens. Given: 5012',
      error_type: 'validation',
    },
    { window: 4_096, requested: 5_012 },
  ],
  [...(['a proxy', 'compatible', 413] as const), '<html><h1>413 Request Entity Too Large</h1></html>', {}],
];

describe('a refusal because of length', () => {
  const ask = (model: LanguageModelV4, stream: boolean) =>
    generate(model, {
      prompt: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
      tools: [],
      stream,
      signal: new AbortController().signal,
    }).catch((error: unknown) => error as ModelError);

  test.each(refusals)('%s', async (_, model, status, body, said) => {
    for (const stream of [true, false]) {
      server.reply({ status, body });
      const error = await ask(models[model], stream);
      expect(error).toBeInstanceOf(ModelError);
      expect(error).toMatchObject({ errorType: 'context_too_long', retryable: false, statusCode: status });
      expect((error as ModelError).tooLong).toEqual(said);
    }
  });

  test.each([
    ['Input is too long for requested model.', {}],
    [
      'Too many input tokens. Max input tokens: 8192, request input token count: 9000',
      { window: 8_192, requested: 9_000 },
    ],
    [
      'too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000.',
      { window: 4_081, requested: 5_000 },
    ],
  ])('of Bedrock or Cohere: %s', (message, said) => {
    const error = new APICallError({ message, url: 'http://x', requestBodyValues: {}, statusCode: 400 });
    expect(classify(error, 'llm_request')).toMatchObject({ errorType: 'context_too_long', tooLong: said });
  });

  test.each([
    { type: 'error', code, message: 'Your input exceeds the context window of this model.' },
    { type: 'response.failed', response: { error: { code, message: 'x' } } },
  ])('in a stream that has begun: %j', (part) => {
    expect(classify(part, 'llm_stream')).toMatchObject({ errorType: 'context_too_long', retryable: false });
  });
});

describe('another refusal', () => {
  test.each([
    [400, 'messages.3: `tool_use` ids were found without `tool_result` blocks', 'llm_request'],
    [
      400,
      "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40.",
      'llm_request',
    ],
    [429, 'Request too large for gpt-x on tokens per min (TPM): Limit 30000, Requested 40000.', 'llm_request'],
    [429, 'Too many tokens, please wait before trying again.', 'llm_request'],
    [401, 'Incorrect API key provided', 'llm_request'],
    [503, 'The model is overloaded: maximum context length is not known', 'llm_request'],
  ])('%i %s', (statusCode, message, type) => {
    const error = new APICallError({ message, url: 'http://x', requestBodyValues: {}, statusCode });
    expect(classify(error, 'llm_request').errorType).toBe(type);
  });

  test('any text is read in little time, and never throws', () => {
    const words = fc.constantFrom(
      'input token count',
      'exceeds',
      '(',
      '9',
      ',',
      ' ',
      'token count ',
      'tokens',
      'context ',
      'maximum ',
    );
    fc.assert(
      fc.property(fc.array(words, { maxLength: 2_000 }), (parts) => {
        const error = new APICallError({
          message: parts.join(''),
          url: 'http://x',
          requestBodyValues: {},
          statusCode: 400,
        });
        const { tooLong } = classify(error, 'llm_request');
        for (const said of Object.values(tooLong ?? {})) expect(Number.isSafeInteger(said) && said > 0).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});
