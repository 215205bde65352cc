import { EventSourceParserStream } from '@ai-sdk/provider-utils';
import type { z } from '@hono/zod-openapi';
import type { Problem } from '../../server/schemas/problem.ts';
import type { Wire } from '../../base/operations/wire.ts';
import type { RunSnapshot } from '../../runs/operations/runs/run-snapshot.ts';
import { parseJson } from '../../base/common/json.ts';
import { LanefoldError, type ErrorCode, isLanefoldError } from '../../base/errors.ts';
import type { Caller } from './options.ts';
import { onAbort } from '../../base/common/timer.ts';
import { ProtocolError, ProtocolErrorCode, type CallToolResult, type McpServer } from '@modelcontextprotocol/server';
import type { DerivedIds } from '../../base/checks/ids.ts';
import type { AgentSummary } from '../../runs/operations/agents/types.ts';

/** A run as the HTTP API returns it. */
export type RunJson = Wire<RunSnapshot>;

/** Names a run as tools and resources do. */
export interface RunName {
  thread_id: string;
  run_id: string;
}

/** Requests to the HTTP API by one caller. */
export interface Api extends Pick<Caller, 'may'> {
  readonly caller: string;
  /** @throws LanefoldError the code of the problem that the API answers with */
  get<T>(path: string): Promise<T>;
  /** The answer as it was sent. @throws LanefoldError as `get` */
  text(path: string): Promise<string>;
  /** @throws LanefoldError as `get` */
  post<T>(path: string, body: object, headers?: Record<string, string>): Promise<T>;
  /**
   * The kinds of the events of a run, as they are committed. Ends with the run or with `signal`.
   *
   * @param after the number of an event of the thread: only later ones; -1: all
   * @throws LanefoldError as `get`
   */
  follow(run: RunName, after: number, signal: AbortSignal): AsyncGenerator<string>;
}

// only its path counts
const origin = 'http://127.0.0.1';

export function apiOf({ door, credential, name, may }: Caller): Api {
  const send = async (path: string, init: RequestInit & { headers: Record<string, string> }): Promise<Response> => {
    const auth: Record<string, string> = credential === undefined ? {} : { authorization: `Bearer ${credential}` };
    const headers = { host: '127.0.0.1', ...init.headers, ...auth };
    const response = await door(new Request(origin + path, { ...init, headers }));
    if (response.ok) return response;
    const { code, detail, hint, errors } = (await valueOf(response)) as z.infer<typeof Problem>;
    const fields = errors?.map(({ path, message }) => `${path}: ${message}`).join(' ');
    throw new LanefoldError(code as ErrorCode, fields ? `${detail} ${fields}` : detail, hint ? { hint } : {});
  };
  return {
    caller: name,
    may,
    async get<T>(path: string) {
      return (await valueOf(await send(path, { headers: {} }))) as T;
    },
    text: async (path) => (await send(path, { headers: {} })).text(),
    async post<T>(path: string, body: object, headers: Record<string, string> = {}) {
      const json = { 'content-type': 'application/json', ...headers };
      return (await valueOf(await send(path, { method: 'POST', body: JSON.stringify(body), headers: json }))) as T;
    },
    async *follow(run, after, signal) {
      const path = `${runPath(run)}/events?deltas=false&after=${after}`;
      const response = await send(path, { headers: { accept: 'text/event-stream' } });
      // 204: the run has ended
      if (!response.body || response.status === 204) return;
      const events = response.body
        .pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
        .pipeThrough(new EventSourceParserStream())
        .getReader();
      const leave = () => void events.cancel().catch(() => {});
      const unlisten = onAbort(signal, leave);
      try {
        if (signal.aborted) return;
        for (let next = await events.read(); !next.done; next = await events.read()) yield next.value.event ?? '';
      } finally {
        unlisten();
        leave();
      }
    },
  };
}

/** Of our own server, whose numbers were checked when they came in. */
const valueOf = async (response: Response): Promise<unknown> => parseJson(await response.text());

export const threadPath = (threadId: string): string => `/v1/threads/${encodeURIComponent(threadId)}`;

export const runPath = ({ thread_id: threadId, run_id: runId }: RunName): string =>
  `${threadPath(threadId)}/runs/${encodeURIComponent(runId)}`;

export const callPath = (run: RunName, call: string): string =>
  `${runPath(run)}/tool-calls/${encodeURIComponent(call)}`;

/** @throws LanefoldError `run_not_found`, `thread_not_found`, `forbidden` */
export const getRun = (api: Api, run: RunName): Promise<RunJson> => api.get(runPath(run));

/** What a model reads when its call fails. */
interface ToolFailure {
  code: string;
  message: string;
  hint?: string | undefined;
  thread_id?: string;
  run_id?: string;
}

/** An error of a tool: text, because the output schema of a tool describes its successes. */
export const toolError = (failure: ToolFailure): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify({ error: failure }) }],
  isError: true,
});

/**
 * Our errors as errors of the tool, which the model can react to; everything else as an error of the protocol.
 *
 * @param run the run that continues in spite of the error: without its name, the client could not ask for it
 */
export function asToolError(error: unknown, run?: RunName): CallToolResult {
  if (!isLanefoldError(error)) throw error;
  const { code, message, hint } = error;
  const kept = run && code === 'server_busy' ? 'The run is stored. Ask for it later with lanefold_run_result.' : hint;
  return toolError({ code, message, hint: kept, ...run });
}

/** Our errors as errors of the protocol, with `code` and `hint` in their data. */
export function asProtocolError(error: unknown): never {
  if (!isLanefoldError(error)) throw error;
  const { code, message, hint, status } = error;
  const rpc = status >= 500 ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams;
  throw new ProtocolError(rpc, message, { code, hint });
}

export const invalidParams = (message: string): ProtocolError =>
  new ProtocolError(ProtocolErrorCode.InvalidParams, message);

/** What the handlers of one MCP server share. */
export interface McpContext {
  server: McpServer;
  api: Api;
  /** Ids that derive from the names of requests, as for the server's own tenant. */
  ids(): Promise<DerivedIds>;
  /** The agents that are tools. */
  agents: readonly AgentSummary[];
  /** The names that the option `agents` lists; undefined: every agent. */
  onlyAgents: readonly string[] | undefined;
  /** How long a tool call waits for its run, in ms. */
  waitMs: number;
  /** Takes the bytes of an answer from the memory budget of the HTTP server; undefined: there is no budget. */
  hold: ((bytes: number) => void) | undefined;
}

/**
 * Counts an answer before the SDK writes it.
 *
 * @throws LanefoldError `server_busy`
 */
export function held<T extends object>({ hold }: Pick<McpContext, 'hold'>, answer: T): T {
  hold?.(Buffer.byteLength(JSON.stringify(answer)));
  return answer;
}
