import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';

export interface FakeModel extends LanguageModelV4 {
  calls: LanguageModelV4CallOptions[];
  cancelled: unknown[];
}

export const finish = (
  unified: 'stop' | 'tool-calls' | 'length' | 'content-filter' | 'error' | 'interrupted' | 'other' = 'stop',
): LanguageModelV4StreamPart => ({
  type: 'finish',
  finishReason: { unified, raw: unified },
  usage: {
    inputTokens: { total: 10, noCache: 6, cacheRead: 4, cacheWrite: undefined },
    outputTokens: { total: 5, text: 3, reasoning: 2 },
  },
});

export const text = (delta: string, id = 't'): LanguageModelV4StreamPart[] => [
  { type: 'text-start', id },
  { type: 'text-delta', id, delta },
  { type: 'text-end', id },
];

/** A model that streams these parts; with `open` the stream then stays silent, ignoring the abort signal. */
export function fakeModel(parts: LanguageModelV4StreamPart[], { open = false } = {}): FakeModel {
  const calls: LanguageModelV4CallOptions[] = [];
  const cancelled: unknown[] = [];
  return {
    specificationVersion: 'v4',
    provider: 'fake',
    modelId: 'fake',
    supportedUrls: {},
    calls,
    cancelled,
    doGenerate: () => Promise.reject(new Error('not faked')),
    async doStream(options) {
      calls.push(options);
      return {
        stream: new ReadableStream<LanguageModelV4StreamPart>({
          start(controller) {
            for (const part of parts) controller.enqueue(part);
            if (!open) controller.close();
          },
          cancel: (reason) => void cancelled.push(reason),
        }),
      };
    },
  };
}
