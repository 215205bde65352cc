import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Content } from '@ai-sdk/provider';
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';

/** The response of a fake model to one call. */
export interface FakeTurn {
  text?: string;
  thinking?: string;
  calls?: { id?: string; name: string; args?: unknown }[];
  finishReason?: 'stop' | 'tool-calls' | 'length' | 'content-filter' | 'error' | 'other';
  /** Input and output tokens; default [10, 5]. */
  usage?: [number, number];
  /** Number of deltas the text is split into; default 1. */
  deltas?: number;
}

/** A list has one turn per call and repeats its last one; a function gets the call and its number, from 0. */
export type FakeScript =
  FakeTurn[] | ((call: LanguageModelV4CallOptions, n: number) => FakeTurn | Error | Promise<FakeTurn | Error>);

export interface FakeModel extends LanguageModelV4 {
  readonly calls: LanguageModelV4CallOptions[];
}

/** An in-process AI SDK model. The call fails with any error that the script returns or throws. */
export function fakeModel(script: FakeScript): FakeModel {
  const calls: LanguageModelV4CallOptions[] = [];
  const next = async (call: LanguageModelV4CallOptions): Promise<FakeTurn> => {
    const n = calls.push(call) - 1;
    const turn = typeof script === 'function' ? await script(call, n) : script[Math.min(n, script.length - 1)]!;
    if (turn instanceof Error) throw turn;
    return turn;
  };
  return {
    specificationVersion: 'v4',
    provider: 'fake',
    modelId: 'fake',
    supportedUrls: {},
    calls,
    async doGenerate(call) {
      const turn = await next(call);
      const content: LanguageModelV4Content[] = turn.text ? [{ type: 'text', text: turn.text }] : [];
      return { content: [...content, ...callsOf(turn)], ...endOf(turn), warnings: [] };
    },
    async doStream(call) {
      const parts = partsOf(await next(call));
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
  const { text = '', thinking = '', deltas = 1 } = turn;
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
  parts.push(...callsOf(turn), { type: 'finish', ...endOf(turn) });
  return parts;
}

const callsOf = ({ calls = [] }: FakeTurn) =>
  calls.map((call, i) => ({
    type: 'tool-call' as const,
    toolCallId: call.id ?? `c${i}`,
    toolName: call.name,
    input: typeof call.args === 'string' ? call.args : JSON.stringify(call.args ?? {}),
  }));

function endOf({ calls = [], finishReason, usage = [10, 5] }: FakeTurn) {
  const reason = finishReason ?? (calls.length > 0 ? 'tool-calls' : 'stop');
  return {
    finishReason: { unified: reason, raw: reason },
    usage: {
      inputTokens: { total: usage[0], noCache: usage[0], cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: usage[1], text: usage[1], reasoning: undefined },
    },
  };
}
