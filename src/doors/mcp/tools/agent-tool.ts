import type { Tool } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { Id } from '../../../server/schemas/values.ts';
import type { AgentSummary } from '../../../runs/operations/agents/agents.ts';
import { inputSchemaOf } from './input-schema.ts';
import { runSchema, usableContract } from './output-schema.ts';

const id = Id.meta({});

export const agentInput = z.strictObject({
  message: z.string().min(1).describe('What to ask the agent.'),
  thread_id: id.optional().describe('Goes on with the conversation of this thread. Default: a new conversation.'),
  request_id: id
    .optional()
    .describe('An id that you choose for this request, such as a UUID. Repeat it to retry without a second run.'),
  create_thread: z.boolean().optional().describe('Create the thread of thread_id if it does not exist.'),
});

/** Names that begin so are the server's own tools. */
export const ownPrefix = 'lanefold_';

export const isTool = ({ name }: AgentSummary): boolean => !name.startsWith(ownPrefix);

export const agentTool = ({ name, description, outputSchema }: AgentSummary, toolName: string): Tool => ({
  name: toolName,
  title: name,
  description:
    `${description ?? `Asks the agent ${name}.`} Returns its answer, or, if that takes long, how to ask for it later.` +
    ' The agent remembers a conversation by its thread_id.',
  inputSchema: inputSchemaOf(agentInput),
  outputSchema: runSchema(usableContract(outputSchema).schema),
  // its tools may do anything
  annotations: { title: name, readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
});

/** Whether a result may stand in `output` of the tool of an agent. A handoff may leave the result to another one. */
export const fitsAgent =
  (agent: AgentSummary | undefined, ranAs: string) =>
  (result: unknown): boolean =>
    agent === undefined || (agent.name === ranAs && usableContract(agent.outputSchema).fits(result));
