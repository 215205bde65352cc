import { setTimeout as delay } from 'node:timers/promises';
import { defineAgent, type Agent } from '../../agents/agent.ts';
import { defineTool } from '../../tools/define-tool.ts';
import type { ToolReplay, Tool, ToolCallContext } from '../../tools/tool.ts';
import type { Recorder } from '../../history/recorder.ts';
import type { Random } from '../random.ts';
import type { Journal } from './journal.ts';

export const builtInAgent = 'chaos';

interface ToolInput {
  /** Duration of the call. */
  ms: number;
}

/**
 * The built-in agent: one tool for each kind of `replay`. Every tool records its starts in the journal, and its executions
 * in the history.
 */
export function chaosAgent(journal: Journal, recorder?: Recorder): Agent {
  const tool = (name: string, replay: ToolReplay<ToolInput>): Tool =>
    defineTool<ToolInput>({
      name,
      input: { type: 'object', properties: { ms: { type: 'number' } } },
      replay,
      async execute({ ms }, { idempotencyKey, signal, threadId, runId, round, callIndex }: ToolCallContext) {
        journal.recordStart(idempotencyKey, name);
        const kind = typeof replay === 'string' ? replay : 'verify';
        const call = { run_id: runId, round, index: callIndex, name, replay: kind };
        const execution = recorder?.invoke('execute', threadId, call);
        await delay(ms, undefined, { signal }).catch((error: unknown) => {
          execution?.info('aborted');
          throw error;
        });
        execution?.ok({});
        const result = `${name} of ${idempotencyKey}`;
        if (name === 'send') journal.recordEffect(idempotencyKey, result);
        return result;
      },
    });
  const verify = {
    verify: async (_: ToolInput, { idempotencyKey }: ToolCallContext) => {
      const result = journal.findEffect(idempotencyKey);
      return result === undefined ? undefined : { result };
    },
  };
  return defineAgent({
    name: builtInAgent,
    model: 'scripted:echo',
    instructions: 'Be steady.',
    tools: [tool('look', 'safe'), tool('charge', 'never'), tool('send', verify)],
    // the script restarts after each steering message and so repeats its calls
    cycleWarning: false,
    maxIterations: 20,
  });
}

/**
 * A scripted model for one run: up to three rounds of one to three parallel tool calls, then an answer, with short
 * delays.
 */
export function randomScript(random: Random): string {
  const turns: unknown[] = Array.from({ length: random.int(0, 3) }, (_, round) => ({
    text: random.chance(0.3) ? `Round ${round}.` : '',
    tools: Array.from({ length: random.int(1, 3) }, () => ({
      tool: random.pick(['look', 'charge', 'send']),
      args: { ms: random.int(5, 250) },
    })),
  }));
  turns.push('All done.');
  return `scripted:${JSON.stringify(turns)}?latency_ms=${random.int(20, 400)}`;
}
