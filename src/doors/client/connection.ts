import { retryAfterMs } from '../../base/common/network.ts';
import { toSnakeCase } from '../../base/common/case.ts';
import { fromWire, toWire } from './case.ts';
import { fromProblem, isClientError, LanefoldClientError } from './errors.ts';
import { places, type Operations, type Problem } from './operations.ts';
import { backoffMs, pause, linked, orAborted } from './wait-for.ts';

export interface ConnectionOptions extends Credentials {
  /** Where the API is, such as `https://agents.example.com`, or `/agents` for the page's own server. */
  url: string;
  /** How often a request is sent again after a lost connection, 429 or 503; default 5. */
  maxRetries?: number;
  /** The first pause before a request is sent again, in ms; it doubles up to 15 s. Default 500. */
  retryDelayMs?: number;
  /** How long an answer may take, in ms, before the request counts as lost; default 30,000. Not for streams. */
  timeoutMs?: number;
  /** Default: the global `fetch`. */
  fetch?: typeof fetch;
}

export type OperationId = keyof Operations;
export type Params = Record<string, string>;

interface Given<ID extends OperationId> {
  params?: Params;
  query?: Operations[ID]['query'];
  body?: Operations[ID]['body'];
  signal?: AbortSignal | undefined;
  /** Whether sending the request twice may do more than sending it once: then it is repeated only after a 429. */
  once?: boolean;
}

/** A server that waits longer than this is not waited for. */
const longestRetryAfterMs = 60_000;

/** Sends requests to one server: with its credentials, again where that is safe, and with errors that say what to do. */
export class Connection {
  readonly #bearer: Bearer;
  readonly #base: string;
  readonly #fetch: typeof fetch;
  readonly #timeoutMs: number;
  readonly maxRetries: number;
  readonly retryDelayMs: number;

  constructor({
    url,
    maxRetries = 5,
    retryDelayMs = 500,
    timeoutMs = 30_000,
    fetch,
    ...credentials
  }: ConnectionOptions) {
    this.#base = baseOf(url);
    this.#bearer = new Bearer(credentials);
    // the global one has to be called without an object, and a test may replace it later
    this.#fetch = fetch ?? ((...request) => globalThis.fetch(...request));
    this.#timeoutMs = timeoutMs;
    this.maxRetries = maxRetries;
    this.retryDelayMs = retryDelayMs;
  }

  /** @throws LanefoldClientError; the reason of `signal` if it aborts */
  async call<ID extends OperationId>(id: ID, given: Given<ID> = {}): Promise<Operations[ID]['answer']> {
    const { params, query, body, signal, once = false } = given;
    const [method, path] = this.locate(id, params, query);
    for (let failures = 1; ; failures++) {
      const limit = linked(signal, this.#timeoutMs);
      try {
        const init = body === undefined ? {} : { body: JSON.stringify(toWire(body)) };
        const response = await this.send(method, path, { ...init, signal: limit.signal });
        return fromWire(await json(response)) as Operations[ID]['answer'];
      } catch (error) {
        signal?.throwIfAborted();
        const lost = this.lost(error, path);
        if (failures > this.maxRetries || !isWorthRepeating(lost) || (once && lost.status !== 429)) throw lost;
        await pause(Math.max(lost.retryAfterMs ?? 0, backoffMs(failures, this.retryDelayMs)), signal);
        signal?.throwIfAborted();
      } finally {
        limit.release();
      }
    }
  }

  /** The method of an operation and the path with its parameters. */
  locate(id: OperationId, params: Params = {}, query: object = {}): [method: string, path: string] {
    const [method, template] = places[id].split(' ') as [string, string];
    const path = template.replace(/\{(\w+)\}/g, (_, name: string) => segmentOf(params[name]));
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(toWire(query) as object))
      search.set(toSnakeCase(name), typeof value === 'object' ? JSON.stringify(value) : String(value));
    const text = search.toString();
    return [method, text === '' ? path : `${path}?${text}`];
  }

  /** One request, and a second one with a new token if the server rejects the first one's. Throws problems. */
  async send(method: string, path: string, init: RequestInit): Promise<Response> {
    for (let renewed = false; ; renewed = true) {
      const token = await orAborted(this.#bearer.current(), init.signal);
      const response = await this.#fetch(this.#base + path, {
        ...init,
        method,
        headers: {
          ...(init.headers as Record<string, string>),
          ...(init.body == null ? {} : { 'content-type': 'application/json' }),
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
      });
      // a redirected POST arrives as a GET
      if (response.redirected && method !== 'GET') throw unexpected(response, 'after a redirect');
      if (response.ok) return response;
      const error = await problemOf(response);
      if (renewed || error.code !== 'unauthorized' || !(await this.#bearer.reject(token))) throw error;
    }
  }

  /** What went wrong, as one of our errors. */
  lost(error: unknown, path: string): LanefoldClientError {
    if (isClientError(error)) return error;
    const why = error instanceof Error ? error.message : String(error);
    return new LanefoldClientError('unreachable', `${this.#base}${path} gave no complete answer: ${why}.`, {
      hint: 'Check the URL, the network, and that the server runs. In a browser, the page and the API must share an origin.',
      cause: error,
    });
  }

  /** Drops the token, whose stream ended early with this error. Returns whether there is a way to a new one. */
  async renew(error: LanefoldClientError): Promise<boolean> {
    return error.code === 'unauthorized' && this.#bearer.reject(await this.#bearer.current());
  }
}

/** Whether the same request may succeed later. */
export const isWorthRepeating = ({ code, status, retryAfterMs = 0 }: LanefoldClientError): boolean =>
  retryAfterMs <= longestRetryAfterMs &&
  (code === 'unreachable' || code === 'no_token' || [429, 502, 503, 504].includes(status));

/** A part of a path. A URL would drop `.` and `..`, and so name something else. */
function segmentOf(id: unknown): string {
  if (typeof id === 'string' && !/^\.{0,2}$/.test(id)) return encodeURIComponent(id);
  throw new LanefoldClientError('invalid_id', `${JSON.stringify(id)} is not a valid id.`, {
    hint: 'Use 1 to 128 characters of [A-Za-z0-9._:@-], starting with a letter or digit.',
  });
}

function baseOf(url: string): string {
  let text = String(url);
  while (text.endsWith('/')) text = text.slice(0, -1);
  if (/^https?:\/\/[^/\s]+/.test(text) || /^(\/[^/\s]+)*$/.test(text)) return text;
  throw new LanefoldClientError('invalid_input', `${JSON.stringify(url)} is not the URL of an API.`, {
    hint: 'Pass a URL with http: or https:, such as http://127.0.0.1:4100, without /v1; or a path of the page’s own server.',
  });
}

async function json(response: Response): Promise<unknown> {
  if (response.status === 204) return undefined;
  if (!isJson(response)) throw unexpected(response);
  return response.json();
}

async function problemOf(response: Response): Promise<LanefoldClientError> {
  const body = isJson(response) ? ((await response.json().catch(() => ({}))) as Partial<Problem>) : {};
  const waitMs = retryAfterMs((name) => response.headers.get(name), Date.now()) || undefined;
  if (body.code === undefined || body.detail === undefined) return unexpected(response, undefined, waitMs);
  return fromProblem({ ...body, status: response.status } as Problem, waitMs);
}

const isJson = (response: Response): boolean => /\bjson\b/.test(response.headers.get('content-type') ?? '');

export function unexpected(response: Response, why?: string, retryAfterMs?: number): LanefoldClientError {
  const { status, url, headers } = response;
  const type = headers.get('content-type') ?? 'no content';
  return new LanefoldClientError(
    'unexpected_answer',
    `${url} answered ${status} with ${type}${why === undefined ? '' : ` ${why}`}, unlike a Lanefold server.`,
    {
      status,
      retryAfterMs,
      hint: 'Check the URL: it is that of the server that `lanefold api` starts, without /v1. A proxy may have answered.',
    },
  );
}

/** Exactly one of these, or none for a server on this machine that has no key. */
export interface Credentials {
  /** A browser token, or any other Bearer token. */
  token?: string;
  /** `LANEFOLD_API_KEY`, or a key from `lanefold keys create`. Never give it to a browser. */
  apiKey?: string;
  /** Asks your backend for a browser token: before the first request, and again whenever the server rejects the last. */
  getToken?: () => string | Promise<string>;
}

/** The token of the requests, renewed by `getToken`. */
export class Bearer {
  #held: Promise<string> | undefined;
  readonly #get: Credentials['getToken'];

  constructor({ token, apiKey, getToken }: Credentials) {
    if ([token, apiKey, getToken].filter((given) => given !== undefined).length > 1) {
      throw new LanefoldClientError('invalid_input', 'The client got several of token, apiKey and getToken.', {
        hint: 'Pass one of them: getToken in a browser, apiKey on a server.',
      });
    }
    this.#get = getToken;
    const fixed = token ?? apiKey;
    if (fixed !== undefined) this.#held = Promise.resolve(fixed);
  }

  /** One request for a token serves all calls that wait for it. @throws LanefoldClientError `no_token` */
  current(): Promise<string> | undefined {
    if (this.#held || !this.#get) return this.#held;
    const asked = Promise.resolve().then(this.#get).catch(noToken);
    this.#held = asked;
    asked.catch(() => (this.#held = undefined));
    return asked;
  }

  /** Drops a token that the server rejected. Returns whether there is a way to a new one. */
  async reject(token: string | undefined): Promise<boolean> {
    if (!this.#get) return false;
    if (this.#held && (await this.#held.catch(() => undefined)) === token) this.#held = undefined;
    return true;
  }
}

function noToken(cause: unknown): never {
  const why = cause instanceof Error ? cause.message : String(cause);
  throw new LanefoldClientError('no_token', `getToken failed: ${why}.`, {
    hint: 'Your backend has to answer with a token from POST /v1/tokens, or with an error that the page shows.',
    cause,
  });
}

/** A new id that sorts by time, such as `req_01k7uumgdredk9mgulbgm9ll5m`: 48 bits of the clock, then chance. */
export function newId(prefix: string): string {
  // unlike randomUUID, it is there on pages without TLS
  const bytes = crypto.getRandomValues(new Uint8Array(10));
  const random = bytes.reduce((all, byte) => all * 256n + BigInt(byte), 0n);
  return `${prefix}_${((BigInt(Date.now()) << 80n) + random).toString(32).padStart(26, '0')}`;
}
