import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';

/** What a fake model says in one call. */
export interface FakeTurn {
  text?: string;
  thinking?: string;
  calls?: { id?: string; name: string; args?: unknown }[];
  finishReason?: 'stop' | 'tool-calls' | 'length' | 'content-filter' | 'error' | 'other';
  /** Input and output tokens; default [10, 5]. */
  usage?: [number, number];
  /** Pieces the text is cut into; default 1. */
  deltas?: number;
}

/** A list is played call by call, its last turn again and again; a function sees the call and its number from 0. */
export type FakeScript =
  FakeTurn[] | ((call: LanguageModelV4CallOptions, n: number) => FakeTurn | Error | Promise<FakeTurn | Error>);

export interface FakeModel extends LanguageModelV4 {
  readonly calls: LanguageModelV4CallOptions[];
}

/** An AI SDK model in this process. An error that the script returns or throws is the error of the call. */
export function fakeModel(script: FakeScript): FakeModel {
  const calls: LanguageModelV4CallOptions[] = [];
  return {
    specificationVersion: 'v4',
    provider: 'fake',
    modelId: 'fake',
    supportedUrls: {},
    calls,
    doGenerate: () => Promise.reject(new Error('not faked')),
    async doStream(call) {
      const n = calls.push(call) - 1;
      const turn = typeof script === 'function' ? await script(call, n) : script[Math.min(n, script.length - 1)]!;
      if (turn instanceof Error) throw turn;
      const parts = partsOf(turn);
      return {
        stream: new ReadableStream<LanguageModelV4StreamPart>({
          start(controller) {
            for (const part of parts) controller.enqueue(part);
            controller.close();
          },
        }),
      };
    },
  };
}

function partsOf(turn: FakeTurn): LanguageModelV4StreamPart[] {
  const { text = '', thinking = '', calls = [], usage = [10, 5], deltas = 1 } = turn;
  const parts: LanguageModelV4StreamPart[] = [{ type: 'stream-start', warnings: [] }];
  if (thinking) {
    parts.push({ type: 'reasoning-start', id: 'r' }, { type: 'reasoning-delta', id: 'r', delta: thinking });
    parts.push({ type: 'reasoning-end', id: 'r' });
  }
  if (text) {
    parts.push({ type: 'text-start', id: 't' });
    const size = Math.ceil(text.length / deltas);
    for (let at = 0; at < text.length; at += size)
      parts.push({ type: 'text-delta', id: 't', delta: text.slice(at, at + size) });
    parts.push({ type: 'text-end', id: 't' });
  }
  for (const [i, call] of calls.entries()) {
    const input = typeof call.args === 'string' ? call.args : JSON.stringify(call.args ?? {});
    parts.push({ type: 'tool-call', toolCallId: call.id ?? `c${i}`, toolName: call.name, input });
  }
  const reason = turn.finishReason ?? (calls.length > 0 ? 'tool-calls' : 'stop');
  parts.push({
    type: 'finish',
    finishReason: { unified: reason, raw: reason },
    usage: {
      inputTokens: { total: usage[0], noCache: usage[0], cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: usage[1], text: usage[1], reasoning: undefined },
    },
  });
  return parts;
}
