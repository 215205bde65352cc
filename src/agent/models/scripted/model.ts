import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Prompt } from '@ai-sdk/provider';
import type { LanguageModelV4GenerateResult, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { demoTurn } from './demo.ts';
import {
  parseScriptedId,
  type ScriptedSpec,
  type ScriptedTurn,
  callCount,
  lastUserText,
  sinceLastUser,
  tokensIn,
  tokensOut,
} from './script.ts';
import { delay } from '../../../base/common/timer.ts';

/**
 * An offline model that follows a script; `id` is the part after `scripted:` (see `parseScriptedId`).
 *
 * The answer depends on the prompt alone, so a resumed run gets the same answer. An inline script plays its n-th turn
 * as the n-th assistant message after the last user message, and repeats its last turn from then on.
 */
export function createScriptedModel(id: string): LanguageModelV4 {
  const spec = parseScriptedId(id);
  return {
    specificationVersion: 'v4',
    provider: 'scripted',
    modelId: id,
    supportedUrls: {},
    async doGenerate(options) {
      if (spec.latencyMs > 0) await delay(spec.latencyMs, { signal: options.abortSignal });
      return answer(spec, options);
    },
    async doStream(options) {
      options.abortSignal?.throwIfAborted();
      const parts = toParts(answer(spec, options));
      const paced = spec.latencyMs > 0 || spec.chunkMs > 0;
      return { stream: paced ? pacedStream(parts, spec, options.abortSignal) : streamOf(parts) };
    },
  };
}

function turnOf(spec: ScriptedSpec, options: LanguageModelV4CallOptions): ScriptedTurn {
  const { script } = spec;
  if (script === 'echo') return { text: lastUserText(options.prompt), calls: [] };
  if (script === 'demo') return demoTurn(options);
  const n = sinceLastUser(options.prompt).filter((message) => message.role === 'assistant').length;
  return script[Math.min(n, script.length - 1)] as ScriptedTurn;
}

function answer(spec: ScriptedSpec, options: LanguageModelV4CallOptions): LanguageModelV4GenerateResult {
  const turn = turnOf(spec, options);
  // Numbering calls after those in the prompt keeps ids unique without any state.
  const first = callCount(options.prompt) + 1;
  const calls = turn.calls.map(({ name, input }, i) => ({
    type: 'tool-call' as const,
    toolCallId: `call_${first + i}`,
    toolName: name,
    input: JSON.stringify(input),
  }));
  const reason = calls.length > 0 ? 'tool-calls' : 'stop';
  return {
    content: [...(turn.text === '' ? [] : [{ type: 'text' as const, text: turn.text }]), ...calls],
    finishReason: { unified: reason, raw: reason },
    usage: usageOf(options.prompt, tokensOut(turn)),
    warnings: [],
  };
}

function usageOf(prompt: LanguageModelV4Prompt, output: number): LanguageModelV4GenerateResult['usage'] {
  const input = tokensIn(prompt);
  return {
    inputTokens: { total: input, noCache: input, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: output, text: output, reasoning: undefined },
  };
}

function toParts(result: LanguageModelV4GenerateResult): LanguageModelV4StreamPart[] {
  const parts: LanguageModelV4StreamPart[] = [{ type: 'stream-start', warnings: [] }];
  for (const content of result.content) {
    if (content.type === 'text') {
      parts.push({ type: 'text-start', id: 'text' });
      for (const delta of content.text.match(/^\s+|\S+\s*/g) ?? [content.text])
        parts.push({ type: 'text-delta', id: 'text', delta });
      parts.push({ type: 'text-end', id: 'text' });
    } else if (content.type === 'tool-call') {
      const { toolCallId: id, toolName, input } = content;
      parts.push({ type: 'tool-input-start', id, toolName }, { type: 'tool-input-delta', id, delta: input });
      parts.push({ type: 'tool-input-end', id }, content);
    }
  }
  parts.push({ type: 'finish', finishReason: result.finishReason, usage: result.usage });
  return parts;
}

/** One after the other, as they are read: taking the first of a long queue moves all the others. */
function streamOf(parts: LanguageModelV4StreamPart[]): ReadableStream<LanguageModelV4StreamPart> {
  const left = parts.values();
  return new ReadableStream<LanguageModelV4StreamPart>({
    pull(controller) {
      const { done, value } = left.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
}

function pacedStream(
  parts: LanguageModelV4StreamPart[],
  spec: ScriptedSpec,
  signal: AbortSignal | undefined,
): ReadableStream<LanguageModelV4StreamPart> {
  let at = 0;
  return new ReadableStream<LanguageModelV4StreamPart>(
    {
      async pull(controller) {
        const part = parts[at++];
        if (!part) return controller.close();
        const ms = at === 1 ? spec.latencyMs : part.type.endsWith('-delta') ? spec.chunkMs : 0;
        if (ms > 0) await delay(ms, { signal });
        controller.enqueue(part);
      },
    },
    // Without a buffer, no delay starts before the part is read.
    { highWaterMark: 0 },
  );
}
