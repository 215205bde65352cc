import {
  inputRequired,
  type CallToolResult,
  type InputRequiredResult,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { clientOf } from '../client.ts';
import { inputRequestsOf } from '../input/requests.ts';
import { respond } from '../input/respond.ts';
import { getRun, type RunName } from '../api.ts';
import type { McpContext } from '../server-context.ts';
import { fitsAgent } from '../tools/agent-tool.ts';
import { answerOf } from './answer.ts';
import { followRun } from './follow.ts';
import { rightsOf } from './rights.ts';

/**
 * Waits for a run and answers a tool call with it. Where the run needs a person and the client can ask its user, the call
 * asks first; the client then repeats the call with the answers and the name of the run.
 *
 * @param tool the name of the agent whose tool is called; undefined: any run
 * @param isNew this call has started the run
 * @throws LanefoldError `run_not_found`, `forbidden`, `invalid_input`
 */
export async function settle(
  { server, api, agents, waitMs: mostMs }: McpContext,
  name: RunName,
  ctx: ServerContext,
  { tool, waitMs = mostMs, isNew = false }: { tool?: string; waitMs?: number | undefined; isNew?: boolean } = {},
): Promise<CallToolResult | InputRequiredResult> {
  const client = clientOf(server, ctx);
  const { inputResponses: responses } = ctx.mcpReq;
  const left = responses && (await respond(api, await getRun(api, name), responses, client.name));
  const run = await followRun(api, name, {
    waitMs: Math.min(waitMs, mostMs),
    isNew,
    signal: ctx.mcpReq.signal,
    onProgress: progressOf(ctx),
  });
  const rights = await rightsOf(api, run);
  const requests = client.elicits ? inputRequestsOf(run, rights) : undefined;
  // its user has just left a question open: asking again at once would trap them
  if (requests && !Object.keys(requests).some((key) => left?.has(key))) {
    return inputRequired({ inputRequests: requests, requestState: JSON.stringify(name) });
  }
  const agent = tool === undefined ? undefined : agents.find((one) => one.name === tool);
  return answerOf(run, fitsAgent(agent, run.agent), rights);
}

/** Tells a client that asked for progress; clients may extend their time limit with each notification. */
function progressOf({ mcpReq: { _meta, notify } }: ServerContext): (message: string) => Promise<void> {
  const progressToken = _meta?.progressToken;
  let progress = 0;
  return async (message) => {
    if (progressToken === undefined) return;
    progress += 1;
    await notify({ method: 'notifications/progress', params: { progressToken, progress, message } }).catch(() => {});
  };
}
