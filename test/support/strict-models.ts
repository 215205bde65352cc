import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { refusal } from './strict-apis.ts';

export interface WrittenAnswer {
  text?: string;
  calls?: { id: string; name: string; arguments: Record<string, unknown> }[];
}

type Body = Record<string, unknown>;

const answers: Record<string, (answer: WrittenAnswer) => Body> = {
  'chat completions': ({ text = '', calls = [] }) => ({
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    choices: [
      {
        index: 0,
        finish_reason: calls.length > 0 ? 'tool_calls' : 'stop',
        message: {
          role: 'assistant',
          content: text,
          tool_calls: calls.map(({ id, name, arguments: own }) => ({
            id,
            type: 'function',
            function: { name, arguments: JSON.stringify(own) },
          })),
        },
      },
    ],
  }),
  'OpenAI Responses': ({ text, calls = [] }) => ({
    id: 'r',
    object: 'response',
    created_at: 1,
    model: 'm',
    usage: { input_tokens: 10, output_tokens: 5 },
    output: [
      ...(text === undefined
        ? []
        : [
            {
              type: 'message',
              role: 'assistant',
              id: 'msg_1',
              content: [{ type: 'output_text', text, annotations: [] }],
            },
          ]),
      ...calls.map(({ id, name, arguments: own }, i) => ({
        type: 'function_call',
        id: `fc_${i}`,
        call_id: id,
        name,
        arguments: JSON.stringify(own),
        status: 'completed',
      })),
    ],
  }),
  Anthropic: ({ text, calls = [] }) => ({
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'm',
    stop_sequence: null,
    stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn',
    usage: { input_tokens: 10, output_tokens: 5 },
    content: [
      ...(text === undefined ? [] : [{ type: 'text', text }]),
      ...calls.map(({ id, name, arguments: input }) => ({ type: 'tool_use', id, name, input })),
    ],
  }),
  Google: ({ text, calls = [] }) => ({
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
    candidates: [
      {
        finishReason: 'STOP',
        content: {
          role: 'model',
          parts: [
            ...(text === undefined ? [] : [{ text }]),
            ...calls.map(({ id, name, arguments: args }) => ({ functionCall: { id, name, args } })),
          ],
        },
      },
    ],
  }),
};

/** A model of an API that refuses what the real one does, and otherwise gives the next of these answers. */
export function strictModel(api: string, script: WrittenAnswer[]): LanguageModelV4 & { requests: Body[] } {
  const requests: Body[] = [];
  const fetch = async (_: unknown, init?: RequestInit): Promise<Response> => {
    const body = JSON.parse(init?.body as string) as Body;
    requests.push(body);
    const message = refusal(api, body);
    const answer = message === undefined ? answers[api]!(script.shift() ?? { text: 'Done.' }) : { error: { message } };
    const status = message === undefined ? 200 : 400;
    return new Response(JSON.stringify(answer), { status, headers: { 'content-type': 'application/json' } });
  };
  const settings = { baseURL: 'http://127.0.0.1:9/v1', apiKey: 'test', fetch: fetch as typeof globalThis.fetch };
  const models: Record<string, () => LanguageModelV4> = {
    'chat completions': () => createOpenAICompatible({ name: 'compatible', ...settings })('model'),
    'OpenAI Responses': () => createOpenAI(settings)('gpt-5'),
    Anthropic: () => createAnthropic(settings)('claude-sonnet-4-5'),
    Google: () => createGoogleGenerativeAI(settings)('gemini-3-pro'),
  };
  return Object.assign(models[api]!(), { requests });
}
