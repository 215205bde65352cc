import { Mastra } from '@mastra/core';
import { Agent } from '@mastra/core/agent';
import { createDurableAgent } from '@mastra/core/agent/durable';
import { createTool } from '@mastra/core/tools';
import { PostgresStore } from '@mastra/pg';
import { z } from 'zod';
import { ask, check, look, question } from './workload.js';

/** Mastra's agent, whose loop is a workflow that keeps its state in PostgreSQL. */
export async function open({ databaseUrl }) {
  const agent = new Agent({
    id: 'agent',
    name: 'agent',
    instructions: 'Answer.',
    model,
    tools: {
      look: createTool({
        id: 'look',
        description: 'Looks something up.',
        inputSchema: z.object({ q: z.number() }),
        execute: () => look(),
      }),
    },
  });
  const storage = new PostgresStore({ id: 'bench', connectionString: databaseUrl });
  const mastra = new Mastra({ agents: { agent: createDurableAgent({ agent }) }, storage, logger: false });
  const durable = mastra.getAgent('agent');
  return {
    async run() {
      const { output, cleanup } = await durable.stream(question, { maxSteps: 100 });
      check(await output.text);
      cleanup();
    },
    close: () => storage.close(),
  };
}

const usage = { inputTokens: 100, outputTokens: 10, totalTokens: 110 };

const model = {
  specificationVersion: 'v2',
  provider: 'bench',
  modelId: 'bench',
  supportedUrls: {},
  doGenerate: () => Promise.reject(new Error('the benchmark only streams')),
  async doStream({ prompt }) {
    // a message has the results of all calls of an answer
    const { content, toolCalls } = await ask(
      prompt.flatMap(({ role, content: parts }) => (role === 'tool' ? parts.map(() => ({ role })) : [{ role }])),
    );
    const parts = [
      { type: 'stream-start', warnings: [] },
      ...(content ? ['start', 'delta', 'end'].map((n) => ({ type: `text-${n}`, id: '0', delta: content })) : []),
      ...toolCalls.map(({ id, name, args }) => ({
        type: 'tool-call',
        toolCallId: id,
        toolName: name,
        input: JSON.stringify(args),
      })),
      { type: 'finish', finishReason: toolCalls.length > 0 ? 'tool-calls' : 'stop', usage },
    ];
    return {
      stream: new ReadableStream({
        start(controller) {
          for (const part of parts) controller.enqueue(part);
          controller.close();
        },
      }),
    };
  },
};
