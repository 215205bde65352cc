import type {
  CallToolResult,
  InputRequiredResult,
  ServerContext,
  Tool,
  ToolAnnotations,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Scope } from '../../base/access/principal.ts';
import { Call, Id } from '../../server/schemas/values.ts';
import { LanefoldError } from '../../base/errors.ts';
import { clientOf, decide, release } from './input.ts';
import { getRun, runPath, type McpContext } from './api.ts';
import { settle, startRun } from './settle.ts';
import { openCalls } from './runs.ts';
import { agentInput, inputSchemaOf, readArguments, runSchema, traceparentOf } from './agent-tool.ts';

type Answer = CallToolResult | InputRequiredResult;

/** A tool of the server itself. */
export interface OwnTool {
  tool: Tool;
  /** The scope and the operation of the API that it takes. */
  needs: readonly [Scope, operation: string];
  call(mcp: McpContext, given: unknown, ctx: ServerContext): Promise<Answer>;
}

const reads: ToolAnnotations = { readOnlyHint: true, openWorldHint: false };
const changes: ToolAnnotations = { readOnlyHint: false, destructiveHint: false, openWorldHint: false };
const ends: ToolAnnotations = { ...changes, destructiveHint: true, idempotentHint: true };

const run = { thread_id: Id.meta({}).describe('The thread of the run.'), run_id: Id.meta({}).describe('The run.') };
const call = Call.meta({}).describe('Round and index of the call, such as 1.0; see open_calls of the run.');

function own<T>(
  { name, input, needs, ...rest }: Omit<Tool, 'inputSchema'> & { input: z.ZodType<T> } & Pick<OwnTool, 'needs'>,
  act: (mcp: McpContext, given: T, ctx: ServerContext) => Promise<Answer>,
): OwnTool {
  return {
    tool: { name, ...rest, inputSchema: inputSchemaOf(input) },
    needs,
    call: (mcp, given, ctx) => act(mcp, readArguments(name, input, given), ctx),
  };
}

/** @throws LanefoldError `unknown_agent` */
function assertServed(agent: string, onlyAgents: readonly string[] | undefined): void {
  if (onlyAgents?.includes(agent) ?? true) return;
  throw new LanefoldError('unknown_agent', `This MCP server does not serve the agent ${agent.slice(0, 200)}.`, {
    hint: `Nothing was started. It serves ${onlyAgents!.join(', ') || 'no agent'}.`,
  });
}

const json = (value: object): CallToolResult => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });

export const ownTools: readonly OwnTool[] = [
  own(
    {
      name: 'lanefold_start_run',
      needs: ['run', 'createRun'],
      title: 'Start a run',
      description: 'Starts a run of an agent and returns at once. Ask for its answer with lanefold_run_result.',
      input: agentInput.safeExtend({ agent: z.string().min(1).describe('The name of the agent.') }),
      annotations: { ...changes, destructiveHint: true, openWorldHint: true },
    },
    async (mcp, { agent, message, thread_id: threadId, request_id: requestId, create_thread: createThread }, ctx) => {
      assertServed(agent, mcp.onlyAgents);
      const traceparent = traceparentOf(ctx);
      return json((await startRun(mcp, { agent, message, threadId, requestId, createThread, traceparent })).run);
    },
  ),
  own(
    {
      name: 'lanefold_run_status',
      needs: ['read', 'getRun'],
      title: 'Status of a run',
      description: 'Returns what a run does now, and the tool calls in it that wait for a person.',
      input: z.strictObject(run),
      annotations: reads,
    },
    async ({ api }, name) => {
      const found = await getRun(api, name);
      const { status, agent, phase, iteration, error, unattended, limited_by, created_at, finished_at } = found;
      const termination_reason = found.termination_reason;
      return json({
        ...name,
        agent,
        status,
        termination_reason,
        phase,
        iteration,
        open_calls: openCalls(found),
        error,
        unattended,
        limited_by,
        created_at,
        finished_at,
      });
    },
  ),
  own(
    {
      name: 'lanefold_run_result',
      needs: ['read', 'getRun'],
      title: 'Result of a run',
      description: 'Waits for the end of a run and returns its answer. Call it again if the run has not ended by then.',
      input: z.strictObject({
        ...run,
        wait_ms: z
          .int()
          .min(0)
          .optional()
          .describe('How long to wait at most; 0 does not wait. The server may wait less.'),
      }),
      outputSchema: runSchema(null),
      annotations: reads,
    },
    (mcp, { wait_ms: waitMs, ...name }, ctx) => settle(mcp, name, ctx, { waitMs }),
  ),
  own(
    {
      name: 'lanefold_steer',
      needs: ['steer', 'steerRun'],
      title: 'Steer a run',
      description: 'Sends a message to a run that has not ended. The agent reads it before its next step.',
      input: z.strictObject({
        ...run,
        message: z.string().min(1).describe('What to tell the agent.'),
        request_id: Id.meta({})
          .optional()
          .describe('An id that you choose. Repeat it to retry without a second message.'),
      }),
      annotations: changes,
    },
    async ({ api }, { message, request_id: inputId, ...name }) =>
      json(await api.post(`${runPath(name)}/steer`, { content: message, ...(inputId ? { input_id: inputId } : {}) })),
  ),
  own(
    {
      name: 'lanefold_cancel',
      needs: ['steer', 'cancelRun'],
      title: 'Cancel a run',
      description: 'Cancels a run. It has no effect on a run that has ended.',
      input: z.strictObject({ ...run, reason: z.string().min(1).max(1_000).optional().describe('Why, for the log.') }),
      annotations: ends,
    },
    async ({ api }, { reason, ...name }) =>
      json(await api.post(`${runPath(name)}/cancel`, reason === undefined ? {} : { reason })),
  ),
  own(
    {
      name: 'lanefold_decide',
      needs: ['approve', 'approveToolCall'],
      title: 'Approve or deny a tool call',
      description:
        'Decides on a tool call that waits for approval. The first decision counts. Only decide what a person told you.',
      input: z.strictObject({
        ...run,
        call,
        decision: z.enum(['approve', 'deny']),
        reason: z.string().min(1).max(1_000).optional().describe('The agent reads why a call was denied.'),
      }),
      annotations: ends,
    },
    async ({ server, api }, { call, decision, reason, ...name }, ctx) =>
      json(await decide(api, name, call, { approve: decision === 'approve', reason }, clientOf(server, ctx).name)),
  ),
  own(
    {
      name: 'lanefold_release',
      needs: ['steer', 'releaseWait'],
      title: 'Release a tool call that waits',
      description: 'Gives a tool call that waits for an event its result, instead of the event.',
      input: z.strictObject({
        ...run,
        call,
        result: z.string().describe('What the call returns: JSON, or else text.'),
      }),
      annotations: ends,
    },
    async ({ server, api }, { call, result, ...name }, ctx) =>
      json(await release(api, name, call, result, clientOf(server, ctx).name)),
  ),
];
