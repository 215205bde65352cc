import { assertId } from '../../base/checks/ids.ts';
import { refuseUnknownKeys, type KeysOf } from '../../base/checks/unknown-keys.ts';
import { LanefoldError } from '../../base/errors.ts';
import type { AgentTask, ChildRequest, RunOfAgent } from './child-request.ts';
import { assertTimeout, Wait, waitKeys, type WaitTimeout } from './wait.ts';

const taskKeys: KeysOf<AgentTask> = {
  input: true,
  context: true,
  toolContext: true,
  model: true,
  maxCost: true,
  maxIterations: true,
};

/**
 * Starts a run of another agent and waits for it: its result becomes the result of the call. The run has a thread of its
 * own, whose ids are derived from the call, so the call starts it once, whatever dies. Return the value from a tool.
 *
 * @throws LanefoldError `invalid_input`
 *
 * @example
 * ```ts
 * import { callAgent, defineTool } from 'lanefold';
 * import { z } from 'zod';
 *
 * defineTool({
 *   name: 'translate',
 *   input: z.object({ text: z.string(), language: z.string() }),
 *   execute: ({ text, language }) => callAgent('translator', { input: `Into ${language}: ${text}` }),
 * });
 * ```
 */
export function callAgent(agent: string | { name: string }, task: AgentTask, options: WaitTimeout = {}): Wait {
  refuseUnknownKeys('callAgent', options, waitKeys);
  assertTimeout(options.timeoutMs);
  return new Wait({ kind: 'run', start: requestOf(agent, task), ...options });
}

/**
 * Starts a run of another agent and does not wait for it: the result of the call is `{agent, thread_id, run_id}`. Return
 * the value from a tool. A later call may wait for the run with `awaitAgent`.
 *
 * @throws LanefoldError `invalid_input`
 *
 * @example
 * ```ts
 * import { defineTool, spawnAgent } from 'lanefold';
 * import { z } from 'zod';
 *
 * defineTool({
 *   name: 'start_research',
 *   input: z.object({ question: z.string() }),
 *   execute: ({ question }) => spawnAgent('researcher', { input: question }),
 * });
 * ```
 */
export function spawnAgent(agent: string | { name: string }, task: AgentTask): Wait {
  return new Wait({ kind: 'spawn', start: requestOf(agent, task) });
}

/**
 * Waits for a run that an earlier call of this thread has started: its result becomes the result of the call. Return the
 * value from a tool.
 *
 * @throws LanefoldError `invalid_id`, `invalid_input`
 *
 * @example
 * ```ts
 * import { awaitAgent, defineTool } from 'lanefold';
 * import { z } from 'zod';
 *
 * defineTool({
 *   name: 'research_result',
 *   input: z.object({ thread_id: z.string(), run_id: z.string() }),
 *   execute: ({ thread_id: threadId, run_id: id }) => awaitAgent({ threadId, id }, { timeoutMs: 60_000 }),
 * });
 * ```
 */
export function awaitAgent(run: RunOfAgent, options: WaitTimeout = {}): Wait {
  refuseUnknownKeys('awaitAgent', options, waitKeys);
  assertId(run?.threadId, 'The thread id');
  assertId(run.id, 'The run id');
  assertTimeout(options.timeoutMs);
  return new Wait({ kind: 'run', run: { threadId: run.threadId, id: run.id }, ...options });
}

function requestOf(agent: string | { name: string }, task: AgentTask): ChildRequest {
  const name = typeof agent === 'string' ? agent : agent?.name;
  if (typeof name !== 'string' || name === '') {
    throw new LanefoldError('invalid_input', 'The agent is neither an agent nor the name of one.', {
      hint: 'Pass a name, or what defineAgent returned.',
    });
  }
  refuseUnknownKeys('The task of an agent', task, taskKeys);
  if (typeof task.input !== 'string' || task.input.trim() === '') {
    throw new LanefoldError('invalid_input', 'The task has no input.', { hint: 'Pass { input: "…" }.' });
  }
  if (task.context !== undefined && !['none', 'fork'].includes(task.context)) {
    throw new LanefoldError('invalid_input', `The context ${JSON.stringify(task.context)} of a task is unknown.`, {
      hint: 'Pass "none" or "fork".',
    });
  }
  return { agent: name, ...task };
}
