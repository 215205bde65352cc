import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';

/** One call of a model that a test answers key by key. */
export interface Keyboard {
  call: LanguageModelV4CallOptions;
  think(text: string): void;
  type(text: string): void;
  /** Ends the answer, with calls of tools where there are some. */
  stop(...calls: { id: string; name: string; args?: object }[]): void;
  /** Breaks the answer off. */
  fail(error: Error): void;
}

export interface TypedModel extends LanguageModelV4 {
  /** The next call, whether it has come already or not. */
  next(): Promise<Keyboard>;
}

/** A model in this process whose answers are written by the test while they are read. */
export function typedModel(): TypedModel {
  const come: Keyboard[] = [];
  const waiting: ((keyboard: Keyboard) => void)[] = [];
  return {
    specificationVersion: 'v4',
    provider: 'typed',
    modelId: 'typed',
    supportedUrls: {},
    next: () => {
      const keyboard = come.shift();
      return keyboard ? Promise.resolve(keyboard) : new Promise((resolve) => waiting.push(resolve));
    },
    doGenerate: () => Promise.reject(new Error('not typed')),
    async doStream(call) {
      let controller!: ReadableStreamDefaultController<LanguageModelV4StreamPart>;
      const stream = new ReadableStream<LanguageModelV4StreamPart>({ start: (own) => void (controller = own) });
      const open = new Set<string>();
      const add = (type: 'text' | 'reasoning', delta: string) => {
        if (!open.has(type)) controller.enqueue({ type: `${type}-start`, id: type });
        open.add(type);
        controller.enqueue({ type: `${type}-delta`, id: type, delta });
      };
      const keyboard: Keyboard = {
        call,
        think: (text) => add('reasoning', text),
        type: (text) => add('text', text),
        stop(...calls) {
          for (const type of open) controller.enqueue({ type: `${type as 'text'}-end`, id: type });
          for (const { id, name, args = {} } of calls)
            controller.enqueue({ type: 'tool-call', toolCallId: id, toolName: name, input: JSON.stringify(args) });
          const reason = calls.length > 0 ? 'tool-calls' : 'stop';
          controller.enqueue({
            type: 'finish',
            finishReason: { unified: reason, raw: reason },
            usage: {
              inputTokens: { total: 10, noCache: 10, cacheRead: undefined, cacheWrite: undefined },
              outputTokens: { total: 5, text: 5, reasoning: undefined },
            },
          });
          controller.close();
        },
        fail: (error) => controller.error(error),
      };
      const wake = waiting.shift();
      if (wake) wake(keyboard);
      else come.push(keyboard);
      return { stream };
    },
  };
}
