import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { deadlineMs, deferred } from './until.ts';

/** One model call, which the test answers piece by piece. */
export interface Keyboard {
  call: LanguageModelV4CallOptions;
  think(text: string): void;
  type(text: string): void;
  /** Ends the answer, optionally with tool calls. */
  stop(...calls: { id: string; name: string; args?: object }[]): void;
  /** Aborts the answer with an error. */
  fail(error: Error): void;
}

export interface TypedModel extends LanguageModelV4 {
  /** Resolves with the next call, which may have arrived already; rejects after five minutes. */
  next(): Promise<Keyboard>;
  /** Forgets what an earlier test left: its calls, and its waiting for calls. */
  clear(): void;
}

/** An in-process model whose answers the test writes while they are being read. */
export function typedModel(): TypedModel {
  const arrived: Keyboard[] = [];
  const waiting: ((keyboard: Keyboard) => void)[] = [];
  const arrives = async () => {
    const { promise, resolve, reject } = deferred<Keyboard>();
    waiting.push(resolve);
    const late = setTimeout(() => reject(new Error('no call of the model came')), deadlineMs);
    try {
      return await promise;
    } finally {
      clearTimeout(late);
      if (waiting.includes(resolve)) waiting.splice(waiting.indexOf(resolve), 1);
    }
  };
  return {
    specificationVersion: 'v4',
    provider: 'typed',
    modelId: 'typed',
    supportedUrls: {},
    next: () => {
      const keyboard = arrived.shift();
      return keyboard ? Promise.resolve(keyboard) : arrives();
    },
    clear() {
      arrived.length = 0;
      waiting.length = 0;
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
      else arrived.push(keyboard);
      return { stream };
    },
  };
}
