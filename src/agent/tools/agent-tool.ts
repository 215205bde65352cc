import type { JSONSchema7 } from '@ai-sdk/provider';
import { refuseUnknownKeys, type KeysOf } from '../../base/checks/unknown-keys.ts';
import { awaitAgent, callAgent, spawnAgent } from './call-agent.ts';
import type { AgentTask } from './child-request.ts';
import { defineTool } from './define-tool.ts';
import type { NeedsApproval, Tool } from './tool.ts';
import type { WaitTimeout } from './wait.ts';

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
 * is a child of the caller's: see docs/sub-agents.md.
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
