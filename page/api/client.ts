import { apiKey, needsKey } from './session.ts';
import type { Problem as Answer } from './types.ts';

/** An error response of the API, with a hint on what to do. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint?: string,
  ) {
    super(message);
  }
}

export const keyHeader = (): Record<string, string> =>
  apiKey.value === '' ? {} : { authorization: `Bearer ${apiKey.value}` };

/** @throws Problem */
export async function problemOf(response: Response): Promise<Problem> {
  if (response.status === 401) needsKey.value = true;
  const body = (await response.json().catch(() => ({}))) as Partial<Answer>;
  const fields = body.errors?.map(({ path, message }) => `${path} ${message}`).join('; ');
  const code = body.code ?? 'unknown';
  if (fields) return new Problem(response.status, code, fields);
  return new Problem(response.status, code, body.detail ?? response.statusText, body.hint);
}

async function send<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const response = await fetch(path, {
    method,
    headers: { ...keyHeader(), ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal ? { signal } : {}),
  });
  if (!response.ok) throw await problemOf(response);
  return (response.status === 204 ? undefined : await response.json()) as T;
}

type Query = Record<string, string | number | undefined | null>;

const withQuery = (path: string, query: Query): string => {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const text = new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString();
  return text ? `${path}?${text}` : path;
};

/** @throws Problem */
export const get = <T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> =>
  send<T>('GET', withQuery(path, query), undefined, signal);

/** @throws Problem */
export const post = <T>(path: string, body: unknown = {}): Promise<T> => send<T>('POST', path, body);

/** @throws Problem */
export const put = <T>(path: string, body: unknown): Promise<T> => send<T>('PUT', path, body);

/** @throws Problem */
export const patch = <T>(path: string, body: unknown): Promise<T> => send<T>('PATCH', path, body);

/** @throws Problem */
export const remove = <T>(path: string): Promise<T> => send<T>('DELETE', path);

/** A path below `/v1`, each part encoded. */
export const v1 = (...parts: string[]): string => `/v1/${parts.map(encodeURIComponent).join('/')}`;
