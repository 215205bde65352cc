import type {
  CallToolResult,
  InputRequiredResult,
  ServerContext,
  Tool,
  ToolAnnotations,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Scope } from '../../base/access/principal.ts';
import { Call, Id } from '../../server/declared/wire-schema.ts';
import { LanefoldError } from '../../base/errors.ts';
import { clientOf, decide, resolve } from './input.ts';
import { getRun, runPath, type McpContext } from './api.ts';
import { isLanefoldError } from '../../base/errors.ts';
import { asProtocolError, asToolError, invalidParams, held, type RunName } from './api.ts';
import { settle, startRun } from './settle.ts';
import { openCalls } from './runs.ts';
import { agentInput, inputSchemaOf, readArguments, runSchema, traceparentOf, agentTool, isTool } from './agent-tool.ts';
import { idGrammar } from '../../base/checks/ids.ts';
import type { AgentSummary } from '../../runs/operations/agents/types.ts';
import { acceptableNames } from '../../agent/tools/tool.ts';
import { createdTask } from './tasks.ts';
import { parseJson } from '../../base/common/json.ts';

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
      name: 'lanefold_resolve',
      needs: ['steer', 'resolveWait'],
      title: 'Resolve a tool call that waits',
      description: 'Gives a tool call that waits for an event its result, instead of the event.',
      input: z.strictObject({
        ...run,
        call,
        result: z.string().describe('What the call returns: JSON, or else text.'),
      }),
      annotations: ends,
    },
    async ({ server, api }, { call, result, ...name }, ctx) =>
      json(await resolve(api, name, call, result, clientOf(server, ctx).name)),
  ),
];

/** Answers `tools/list` and `tools/call`. */
export function addTools(mcp: McpContext): void {
  const { server } = mcp.server;
  server.registerCapabilities({ tools: {} });
  server.setRequestHandler('tools/list', async () => {
    try {
      return held(mcp, { tools: [...(await allowedTools(mcp)), ...(await allowedOwnTools(mcp))] });
    } catch (error) {
      return asProtocolError(error);
    }
  });
  server.setRequestHandler('tools/call', async ({ params: { name, arguments: given } }, ctx) => {
    try {
      return await callTool(mcp, name, given, ctx);
    } catch (error) {
      return asToolError(error);
    }
  });
}

/** The names of the tools of the agents: such as providers accept, because most clients pass them to a model. */
function toolNames(agents: readonly AgentSummary[]): [agent: AgentSummary, tool: string][] {
  const served = agents.filter(isTool);
  const names = acceptableNames(
    served.map(({ name }) => name),
    ownTools.map(({ tool }) => tool.name),
  );
  return served.map((agent, i) => [agent, names[i]!]);
}

/** The agents that the caller may run. A key that may not list agents sees no agent, and may still start runs by name. */
async function allowedTools({ api, agents }: McpContext): Promise<Tool[]> {
  const { data } = await api.get<{ data: { name: string }[] }>('/v1/agents').catch((error: unknown) => {
    if (isLanefoldError(error, 'forbidden')) return { data: [] };
    throw error;
  });
  const allowed = new Set(data.map(({ name }) => name));
  return toolNames(agents).flatMap(([agent, name]) => (allowed.has(agent.name) ? [agentTool(agent, name)] : []));
}

/** The tools of the server itself that the credential of the caller allows. */
async function allowedOwnTools({ api }: McpContext): Promise<Tool[]> {
  const allowed = await Promise.all(ownTools.map(({ needs }) => api.may(...needs)));
  return ownTools.filter((_, i) => allowed[i]).map(({ tool }) => tool);
}

async function callTool(
  mcp: McpContext,
  name: string,
  given: unknown,
  ctx: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  const own = ownTools.find(({ tool }) => tool.name === name);
  if (own) return held(mcp, await own.call(mcp, given, ctx));
  const called = toolNames(mcp.agents);
  // a client may know the name of the agent from elsewhere
  const [agent] = called.find(([, tool]) => tool === name) ?? called.find(([one]) => one.name === name) ?? [];
  if (!agent) throw invalidParams(`Unknown tool ${name.slice(0, 200)}; see tools/list.`);
  const {
    message,
    thread_id: threadId,
    request_id: requestId,
    create_thread: createThread,
  } = readArguments(name, agentInput, given);
  const asked = askedAbout(ctx);
  const request = { agent: agent.name, message, threadId, requestId, createThread, traceparent: traceparentOf(ctx) };
  const { run, isNew } = asked ? { run: asked, isNew: false } : await startRun(mcp, request);
  try {
    if (!asked && clientOf(mcp.server, ctx).tasks) return createdTask(agent.name, await getRun(mcp.api, run));
    return held(mcp, await settle(mcp, run, ctx, { tool: agent.name, isNew }));
  } catch (error) {
    return asToolError(error, run);
  }
}

const State = z.strictObject({ thread_id: z.string().regex(idGrammar), run_id: z.string().regex(idGrammar) });

/**
 * The run whose questions the client has answered. A client could name any run, so every request about it is checked as if
 * the client had asked for that run, and a signature would add nothing.
 */
function askedAbout({ mcpReq }: ServerContext): RunName | undefined {
  const state = mcpReq.requestState<unknown>();
  if (typeof state !== 'string') return undefined;
  try {
    return State.parse(parseJson(state));
  } catch {
    throw invalidParams('Invalid requestState: send back what the server sent.');
  }
}
