import type { Recorder } from '../../history/recorder.ts';
import { defineTool } from '../../../agent/tools/define-tool.ts';
import { sleep, waitFor } from '../../../agent/tools/wait.ts';
import type { ToolReplay, Tool, ToolCallContext } from '../../../agent/tools/tool.ts';
import type { Journal } from './journal.ts';
import { delay } from '../../../base/common/timer.ts';

interface ToolInput {
  /** Duration of the call. */
  ms: number;
}

/** Tools whose calls wait for an event, with a time limit if they have one, or for a time. */
export const waitingTools: readonly Tool[] = [
  defineTool<{ event: string; ms?: number }>({
    name: 'await_event',
    input: { type: 'object', properties: { event: { type: 'string' }, ms: { type: 'number' } } },
    execute: ({ event, ms }) => waitFor(event, ms === undefined ? {} : { timeoutMs: ms }),
  }),
  defineTool<ToolInput>({
    name: 'nap',
    input: { type: 'object', properties: { ms: { type: 'number' } } },
    execute: ({ ms }) => sleep(ms),
  }),
];

/** Tools that a script may call at any time. */
export const toolNames = ['look', 'charge', 'send'] as const;

/**
 * One tool for each kind of `replay`, and one that needs approval. Every tool records its starts in the journal, and
 * its executions in the history.
 */
export function chaosTools(journal: Journal, recorder?: Recorder): Tool[] {
  const tool = (name: string, replay: ToolReplay<ToolInput>, needsApproval = false): Tool =>
    defineTool<ToolInput>({
      name,
      input: { type: 'object', properties: { ms: { type: 'number' } } },
      replay,
      needsApproval,
      async execute({ ms }, { idempotencyKey, signal, threadId, runId, round, callIndex }: ToolCallContext) {
        journal.recordStart(idempotencyKey, name);
        const kind = typeof replay === 'string' ? replay : 'verify';
        const call = { run_id: runId, round, index: callIndex, name, replay: kind };
        const execution = recorder?.invoke('execute', threadId, call);
        await delay(ms, { signal }).catch((error: unknown) => {
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
  return [tool('look', 'safe'), tool('charge', 'never'), tool('send', verify), tool('sign', 'never', true)];
}
