import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { defineTool, type AgentDefinition, type Run } from 'lanefold';
import { z } from 'zod';
import { startModelServer, type ModelServer, type QueuedReply } from '../support/openai-server.ts';
import { startRuntime, type Runtime } from '../runtime/helpers.ts';

/** Calls of tools that were executed, as `name {arguments}`. */
export const executed: string[] = [];

const execute = (name: string) => (args: unknown) => {
  executed.push(`${name} ${JSON.stringify(args)}`);
  return `${name} done`;
};

const optional = z.object({ folder: z.string().optional(), olderThan: z.number().optional() });
const plain = { type: 'object' as const, properties: { folder: { type: 'string' as const } } };

/** `clean` may be called without arguments; the other tools of `answerTools` are named after what they need. */
export const answerTools = [
  defineTool({ name: 'clean', input: optional, execute: execute('clean') }),
  defineTool({ name: 'clean_once', input: optional, replay: 'never', execute: execute('clean_once') }),
  defineTool({ name: 'clean_approved', input: optional, needsApproval: true, execute: execute('clean_approved') }),
  defineTool({ name: 'clean_folder', input: { ...plain, required: ['folder'] }, execute: execute('clean_folder') }),
  defineTool({ name: 'look', input: plain, execute: execute('look') }),
];

export interface AnswerRuntime extends Runtime {
  server: ModelServer;
  /** Queues the replies and runs an agent to its end. */
  ask(replies: QueuedReply[], options?: { agent?: string; model?: string; threadId?: string }): Promise<Asked>;
}

export interface Asked {
  threadId: string;
  run: Run;
  /** The bodies of the requests of this run. */
  sent: any[]; // eslint-disable-line @typescript-eslint/no-explicit-any
}

/** A Lanefold whose models `compatible`, `claude` and `gemini` are one scripted server, through the AI SDK's providers. */
export async function startAnswers(agents: AgentDefinition[]): Promise<AnswerRuntime> {
  const server = await startModelServer();
  const at = { apiKey: 'k', baseURL: server.url };
  const runtime = await startRuntime(agents, {
    models: {
      compatible: createOpenAICompatible({ name: 'compatible', includeUsage: true, ...at })('m'),
      claude: createAnthropic(at)('m'),
      gemini: createGoogleGenerativeAI(at)('m'),
    },
  });
  return {
    ...runtime,
    server,
    async ask(replies, { agent = 'a', ...options } = {}) {
      const from = server.requests.length;
      server.reply(...replies);
      const { threadId, run } = await runtime.run({ agent, input: 'Clean up.', ...options });
      return { threadId, run, sent: server.requests.slice(from).map(({ body }) => body as unknown) };
    },
    async close() {
      await runtime.close();
      await server.close();
    },
  };
}

export const call = (name: string, written: string, id = 'call_1') => ({ id, name, arguments: written });
