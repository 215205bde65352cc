import { expect } from 'vitest';
import { defineAgent, defineTool, type LanefoldOptions, type RunningServer, type ServerOptions } from 'lanefold';
import { z } from 'zod';
import { overridableFields } from '../../src/agent/definition/overridable.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';

export interface Answer {
  status: number;
  headers: Headers;
  /** The parsed body of the response. */
  body: never;
  text: string;
}

export interface Api {
  lanefold: TestLanefold;
  server: RunningServer;
  url: string;
  /** A JSON request; a string or bytes are sent unchanged. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  close(): Promise<void>;
}

const add = defineTool({
  name: 'add',
  input: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => ({ sum: a + b }),
});

const extra = defineTool({ name: 'extra', input: z.object({}), execute: () => 'extra' });

/** An API on a free port, with an agent `calc` that has the tool `add` and may be overridden in all, and a worker. */
export async function startApi({
  worker = true,
  server: serverOptions,
  ...options
}: LanefoldOptions & { worker?: boolean; server?: ServerOptions } = {}): Promise<Api> {
  const lanefold = await startLanefold({
    agents: [
      defineAgent({
        name: 'calc',
        model: 'scripted:echo',
        tools: [add],
        maxIterations: 5,
        overridable: { http: overridableFields },
      }),
    ],
    tools: [extra],
    scriptedModels: true,
    ...options,
  });
  if (worker) await lanefold.startWorker();
  const server = await lanefold.startServer({ port: 0, onError: () => {}, ...serverOptions });
  return { lanefold, server, url: server.url, call: caller(server.url), close: () => lanefold.close() };
}

export const caller =
  (url: string): Api['call'] =>
  async (method, path, body, headers = {}) => {
    const raw = typeof body === 'string' || body instanceof Uint8Array;
    const response = await fetch(url + path, {
      method,
      redirect: 'manual',
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: (raw ? body : JSON.stringify(body)) as string }),
    });
    const text = await response.text();
    const json = text !== '' && /[/+]json/.test(response.headers.get('content-type') ?? '');
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: (json ? JSON.parse(text) : undefined) as never,
    };
  };

export const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });

/** Makes a key over HTTP, with another one. */
export async function mintKey(
  call: Api['call'],
  auth: Record<string, string>,
  fields: object,
): Promise<{ id: string; auth: Record<string, string> }> {
  const { status, body } = await call('POST', '/v1/keys', { name: 'test', ...fields }, auth);
  expect(status).toBe(201);
  const { id, key } = body as { id: string; key: string };
  return { id, auth: bearer(key) };
}

/** Checks what every error response has in common. */
export const problem = (status: number, code: string) => ({
  status,
  body: expect.objectContaining({
    type: `urn:lanefold:${code}`,
    title: expect.any(String),
    status,
    code,
    detail: expect.any(String),
  }),
});
