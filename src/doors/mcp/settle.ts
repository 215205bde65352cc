import {
  inputRequired,
  type CallToolResult,
  type InputRequiredResult,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { clientOf, inputRequestsOf, respond } from './input.ts';
import { getRun, type RunName, threadPath, type Api, type RunJson, type McpContext } from './api.ts';
import { fitsAgent } from './agent-tool.ts';
import { answerOf, rightsOf, hasEnded, openCalls } from './runs.ts';
import { isLanefoldError } from '../../base/errors.ts';
import { after, orLate } from '../../base/common/timer.ts';
import type { Wire } from '../../base/operations/wire.ts';
import type { RunHandle } from '../../database/store/run/run.ts';
import { newThreadId } from '../../base/checks/ids.ts';
import { omitUndefined } from '../../base/common/json.ts';

/**
 * Waits for a run and answers a tool call with it. Where the run needs a person and the client can ask its user, the call
 * asks first; the client then repeats the call with the answers and the name of the run.
 *
 * @param tool the name of the agent whose tool is called; undefined: any run
 * @param isNew this call has started the run
 * @throws LanefoldError `run_not_found`, `forbidden`, `invalid_input`
 */
export async function settle(
  { server, api, agents, waitMs: maxMs }: McpContext,
  name: RunName,
  ctx: ServerContext,
  { tool, waitMs = maxMs, isNew = false }: { tool?: string; waitMs?: number | undefined; isNew?: boolean } = {},
): Promise<CallToolResult | InputRequiredResult> {
  const client = clientOf(server, ctx);
  const { inputResponses: responses } = ctx.mcpReq;
  const left = responses && (await respond(api, await getRun(api, name), responses, client.name));
  const run = await followRun(api, name, {
    waitMs: Math.min(waitMs, maxMs),
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

/** A client hears of a run at least this often, and a wait that has begun is looked at again. */
const tickMs = 2_000;

interface FollowOptions {
  /** How long to wait at most, in ms. */
  waitMs: number;
  /** This call has started the run, so its trace is short and has not been told before. */
  isNew: boolean;
  /** Ends the wait when the client no longer listens; the run continues. */
  signal: AbortSignal;
  /** Called at once, with each event of the run from then on, and at each tick. */
  onProgress(message: string): Promise<void>;
}

/**
 * Waits until a run has ended, needs a person, or has no worker, and returns it as it is then; at the latest after
 * `waitMs`.
 *
 * @throws LanefoldError `run_not_found`, `forbidden`, `unauthorized`
 */
async function followRun(api: Api, name: RunName, options: FollowOptions): Promise<RunJson> {
  const { waitMs, isNew, onProgress } = options;
  const says = (text: string) => onProgress(`run ${name.run_id} of thread ${name.thread_id}: ${text}`);
  // read before the run: the events that the run as read may lack come after it
  const from = isNew || waitMs === 0 ? -1 : await lastEvent(api, name);
  let run = await getRun(api, name);
  await says(run.status);
  if (waitMs === 0 || isSettled(run)) return run;
  const over = new AbortController();
  const signal = AbortSignal.any([options.signal, over.signal]);
  const timer = after(waitMs, () => over.abort());
  try {
    const kinds = api.follow(name, from, signal);
    let waits = !isNew && run.status === 'running' && run.tool_calls.some(({ status }) => waiting.includes(status));
    let next = quietly(kinds.next());
    for (;;) {
      const event = await orTick(next);
      if (event?.done || signal.aborted) break;
      if (event) next = quietly(kinds.next());
      const kind = event?.value;
      if (kind !== undefined) waits = kind.startsWith('wait_') || kind.startsWith('approval_');
      await says(kind ?? run.status);
      // a wait is recorded before the run is suspended, so an event about it may come too early
      if (!waits && kind !== 'unattended') continue;
      run = await getRun(api, name);
      if (isSettled(run) || kind === 'unattended') return run;
      // what it waits for comes by itself, and with an event
      if (run.status === 'suspended') waits = false;
    }
  } catch (error) {
    // the key may have no more streams: its client asks again
    if (!isLanefoldError(error, 'rate_limited') && !isLanefoldError(error, 'server_busy')) throw error;
  } finally {
    over.abort();
    timer.cancel();
  }
  return getRun(api, name);
}

/** Of tool calls whose run may be suspended any moment, after the event that says so. */
const waiting: readonly string[] = ['waiting', 'awaiting_approval'];

/** The number of the last event of the thread; -1 where the key or token may not read that. */
async function lastEvent(api: Api, { thread_id: threadId }: RunName): Promise<number> {
  try {
    return (await api.get<{ event_rev: number }>(threadPath(threadId))).event_rev - 1;
  } catch (error) {
    // the read of the run says better what is wrong
    if (!isLanefoldError(error)) throw error;
    return -1;
  }
}

const isSettled = (run: RunJson): boolean => hasEnded(run) || openCalls(run).length > 0;

/** A stream may break when the wait is already over. */
const quietly = <T>(next: Promise<T>): Promise<T> => {
  next.catch(() => {});
  return next;
};

const orTick = <T>(next: Promise<T>): Promise<T | undefined> => orLate(tickMs, next, () => undefined);

interface StartRequest {
  agent: string;
  message: string;
  /** The thread to continue; undefined: a new one. */
  threadId: string | undefined;
  /** Repeating it finds the run of the first request. */
  requestId: string | undefined;
  createThread: boolean | undefined;
  /** W3C Trace Context. */
  traceparent: string | undefined;
}

/**
 * Accepts a run. The new thread of a request with an id is derived from caller and id, so that a retry finds the same run,
 * and two callers may use the same id.
 *
 * @throws LanefoldError as `runs.enqueue`, `forbidden`
 */
export async function startRun(
  { api, ids }: Pick<McpContext, 'api' | 'ids'>,
  request: StartRequest,
): Promise<{ run: RunName; isNew: boolean }> {
  const { agent, message, threadId, requestId, createThread, traceparent } = request;
  // a caller is of one tenant, and no other request id has a space
  const newThread = async () =>
    requestId === undefined ? newThreadId() : (await ids()).thread(`mcp ${api.caller} ${requestId}`);
  const body = omitUndefined({
    agent,
    input: message,
    request_id: requestId,
    create_thread: threadId === undefined ? true : createThread,
  });
  const headers = omitUndefined({ traceparent });
  const receipt: Wire<RunHandle> = await api.post(`${threadPath(threadId ?? (await newThread()))}/runs`, body, headers);
  return { run: { thread_id: receipt.thread_id, run_id: receipt.id }, isNew: !receipt.duplicate };
}
