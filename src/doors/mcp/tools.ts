import type { CallToolResult, InputRequiredResult, ServerContext, Tool } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { idGrammar } from '../../base/checks/ids.ts';
import { isLanefoldError } from '../../base/errors.ts';
import type { AgentSummary } from '../../runs/operations/agents/agents.ts';
import { acceptableNames } from '../../agent/tools/tool.ts';
import { clientOf } from './input.ts';
import { asProtocolError, asToolError, invalidParams, getRun, type RunName, held, type McpContext } from './api.ts';
import { settle, startRun } from './settle.ts';
import { createdTask } from './tasks.ts';
import { agentInput, agentTool, isTool, readArguments, traceparentOf } from './agent-tool.ts';
import { ownTools } from './own-tools.ts';
import { parseJson } from '../../base/common/json.ts';

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
