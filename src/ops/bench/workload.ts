import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { defineAgent } from '../../agent/definition/agent.ts';
import { defineTool } from '../../agent/tools/define-tool.ts';

export const text400 = 'The quick brown fox jumps over the lazy dog. '.repeat(9).slice(0, 400);

const usage = {
  inputTokens: { total: 100, noCache: 100, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 100, text: 100, reasoning: 0 },
};

/**
 * A model without latency: `rounds` rounds of one tool call, then an answer of 400 characters. It counts the tool
 * messages since the last user message to know its position.
 */
export const instantModel = (rounds: number): LanguageModelV4 => ({
  specificationVersion: 'v4',
  provider: 'bench',
  modelId: `rounds-${rounds}`,
  supportedUrls: {},
  doGenerate: () => Promise.reject(new Error('the benchmark only streams')),
  doStream: ({ prompt }) => {
    let done = 0;
    for (let i = prompt.length - 1; i >= 0 && prompt[i]!.role !== 'user'; i--) if (prompt[i]!.role === 'tool') done++;
    const parts: LanguageModelV4StreamPart[] =
      done < rounds
        ? [
            { type: 'tool-call', toolCallId: `call_${done}`, toolName: 'look', input: `{"q":${done}}` },
            { type: 'finish', finishReason: { unified: 'tool-calls', raw: 'tool_calls' }, usage },
          ]
        : [
            { type: 'text-start', id: '0' },
            { type: 'text-delta', id: '0', delta: text400 },
            { type: 'text-end', id: '0' },
            { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage },
          ];
    return Promise.resolve({
      stream: new ReadableStream<LanguageModelV4StreamPart>({
        start(controller) {
          for (const part of parts) controller.enqueue(part);
          controller.close();
        },
      }),
    });
  },
});

const look = defineTool({
  name: 'look',
  description: 'Looks something up.',
  input: { type: 'object', properties: { q: { type: 'number' } } },
  execute: () => text400,
});

/** The measured run: one `safe` tool call, three steps, 400-character messages. */
export const agent = defineAgent({ name: 'bench', model: 'bench:1', tools: [look], maxIterations: 1_000 });
