import type { JSONSchema7 } from '@ai-sdk/provider';
import { refuseUnknownKeys, type KeysOf } from '../../base/checks/unknown-keys.ts';
import {
  type AgentTask,
  type WaitTimeout,
  type ChildRequest,
  type RunOfAgent,
  assertTimeout,
  Wait,
  waitKeys,
} from './wait.ts';
import { defineTool } from './define-tool.ts';
import type { NeedsApproval, Tool } from './tool.ts';
import { assertId } from '../../base/checks/ids.ts';
import { LanefoldError } from '../../base/errors.ts';

export interface AgentToolOptions extends WaitTimeout, Omit<AgentTask, 'input'> {
  /** Default `ask_<agent>`, with `_` for characters that names of tools may not have. */
  name?: string;
  /** Tells the model when to call the agent. */
  description?: string;
  /** False: the call returns at once, and `agentResultTool` gets the result later. Default true. */
  wait?: boolean;
  needsApproval?: NeedsApproval<{ task: string }>;
}

const keys: KeysOf<AgentToolOptions> = {
  name: true,
  description: true,
  wait: true,
  needsApproval: true,
  timeoutMs: true,
  context: true,
  toolContext: true,
  model: true,
  maxCost: true,
  maxIterations: true,
};

/**
 * A tool that gives a task to another agent, which must be one of the `agents` of the worker too. The run of that agent
 * is a child of the caller's: see docs/build/sub-agents-and-handoffs.md.
 *
 * @throws LanefoldError `invalid_tool`, `invalid_input`
 *
 * @example
 * ```ts
 * import { agentTool, createLanefold, defineAgent } from 'lanefold';
 *
 * const researcher = defineAgent({ name: 'researcher', model: 'scripted:demo', instructions: 'Find facts.' });
 * const editor = defineAgent({
 *   name: 'editor',
 *   model: 'scripted:demo',
 *   tools: [agentTool(researcher, { description: 'Finds facts about one question.' })],
 * });
 * const lanefold = await createLanefold({ agents: [editor, researcher] });
 * await lanefold.close();
 * ```
 */
export function agentTool(agent: string | { name: string }, options: AgentToolOptions = {}): Tool {
  refuseUnknownKeys('agentTool', options, keys);
  const agentName = typeof agent === 'string' ? agent : agent.name;
  const {
    name = `ask_${agentName.replaceAll(/[^A-Za-z0-9_-]/g, '_')}`.slice(0, 64),
    description,
    wait = true,
  } = options;
  const { needsApproval, timeoutMs, name: _, description: __, wait: ___, ...task } = options;
  const tool = defineTool<{ task: string }>({
    name,
    description: description ?? `Gives a task to the agent ${agentName}, and returns its answer.`,
    input: taskSchema,
    ...(needsApproval === undefined ? {} : { needsApproval }),
    execute: ({ task: input }) =>
      wait
        ? callAgent(agentName, { ...task, input }, timeoutMs === undefined ? {} : { timeoutMs })
        : spawnAgent(agentName, { ...task, input }),
  });
  return { ...tool, toAgent: agentName };
}

/**
 * A tool that waits for a run that `agentTool` with `wait: false` has started, and returns its answer.
 *
 * @throws LanefoldError `invalid_tool`
 *
 * @example
 * ```ts
 * import { agentResultTool, agentTool, defineAgent } from 'lanefold';
 *
 * const researcher = defineAgent({ name: 'researcher', model: 'scripted:demo' });
 * defineAgent({
 *   name: 'editor',
 *   model: 'scripted:demo',
 *   tools: [agentTool(researcher, { wait: false }), agentResultTool()],
 * });
 * ```
 */
export function agentResultTool(options: WaitTimeout & { name?: string; description?: string } = {}): Tool {
  const { name = 'agent_result', description, timeoutMs } = options;
  return defineTool<{ thread_id: string; run_id: string }>({
    name,
    description: description ?? 'Waits for an agent that was started before, and returns its answer.',
    input: runSchema,
    execute: ({ thread_id: threadId, run_id: id }) =>
      awaitAgent({ threadId, id }, timeoutMs === undefined ? {} : { timeoutMs }),
  });
}

const text = (description: string): JSONSchema7 => ({ type: 'string', minLength: 1, description });

const taskSchema: JSONSchema7 = {
  type: 'object',
  properties: { task: text('The task, with everything the agent has to know.') },
  required: ['task'],
  additionalProperties: false,
};

const runSchema: JSONSchema7 = {
  type: 'object',
  properties: { thread_id: text('`thread_id` of the agent'), run_id: text('`run_id` of the agent') },
  required: ['thread_id', 'run_id'],
  additionalProperties: false,
};

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
 * own, whose ids are derived from the call, so the call starts it once, even if processes die. Return the value from a tool.
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
