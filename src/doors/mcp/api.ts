import { EventSourceParserStream } from '@ai-sdk/provider-utils';
import type { z } from '@hono/zod-openapi';
import type { Problem } from '../../server/schemas/problem.ts';
import type { RunSnapshot } from '../../server/schemas/run.ts';
import { parseJson } from '../../base/common/json.ts';
import { LanefoldError, type ErrorCode } from '../../base/errors.ts';
import type { Caller } from './door.ts';
import { onAbort } from '../../base/common/on-abort.ts';

/** A run as the HTTP API returns it. */
export type RunJson = z.infer<typeof RunSnapshot>;

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
