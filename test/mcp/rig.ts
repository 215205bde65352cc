import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  createLanefold,
  defineAgent,
  defineTool,
  waitFor,
  type Lanefold,
  type LanefoldOptions,
  type RunningServer,
  type ServerOptions,
} from 'lanefold';
import { mountMcp, type McpOptions } from 'lanefold/mcp';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { fakeModel } from '../support/fake-model.ts';
import { startLanefold, type TestLanefold } from '../support/lanefold.ts';
import { typedModel, type TypedModel } from '../support/typed-model.ts';

const dig = defineTool({
  name: 'dig',
  input: z.object({ at: z.string() }),
  needsApproval: true,
  execute: ({ at }) => `dug at ${at}`,
});

const pay = defineTool({
  name: 'pay',
  input: z.object({ order: z.string() }),
  execute: ({ order }) => waitFor(`paid:${order}`),
});

/** A contract whose schema refers to a part of itself. */
const report = z.object({
  urgent: z.boolean(),
  parts: z.array(z.object({ name: z.string().meta({ id: 'Name' }), other: z.string().optional() })),
});

export const agents = [
  defineAgent({
    name: 'typist',
    model: 'typed:m',
    description: 'Types what you say.',
    tools: [dig, pay],
    maxIterations: 5,
  }),
  defineAgent({ name: 'echo', model: 'scripted:echo' }),
  defineAgent({ name: 'triage', model: 'fake:report', output: { schema: report } }),
  defineAgent({ name: 'broken', model: 'fake:broken', maxModelRetries: 0 }),
];

export const models = (typed: TypedModel): NonNullable<LanefoldOptions['models']> => ({
  typed: () => typed,
  fake: (name) =>
    fakeModel(
      name === 'report' ? [{ text: '{"urgent":true,"parts":[{"name":"a"}]}' }] : () => new Error('out of order'),
    ),
});

export interface Rig {
  /** Serves the API and MCP; has no worker. */
  front: TestLanefold;
  server: RunningServer;
  url: URL;
  /** The model of `typist`; the test writes its answers. */
  model: TypedModel;
  /** Starts the worker, in what stands for another process. */
  work(): Promise<Lanefold>;
  close(): Promise<void>;
}

/** A server without worker, until `work` is called. */
export async function startRig(
  mcp: McpOptions = {},
  server: ServerOptions = {},
  more: LanefoldOptions = {},
): Promise<Rig> {
  const model = typedModel();
  const front = await startLanefold({ agents, models: models(model), ...more });
  const running = await front.startServer({ port: 0, onError: () => {}, mcp: mountMcp(mcp), ...server });
  let back: Lanefold | undefined;
  return {
    front,
    server: running,
    url: new URL('/mcp', running.url),
    model,
    async work() {
      back = await createLanefold(front.options);
      await back.startWorker();
      return back;
    },
    async close() {
      await back?.close();
      await front.close();
    },
  };
}

const init = (key?: string) =>
  key === undefined ? {} : { requestInit: { headers: { authorization: `Bearer ${key}` } } };
const self = { name: 'judge', version: '1' };

export interface ClientChoice {
  key?: string;
  capabilities?: object;
}

/** The official client, in revision 2026-07-28 or, with `legacy`, in 2025-11-25. */
export async function newClient(
  url: URL,
  { key, capabilities = {}, mode = 'auto' }: ClientChoice & { mode?: 'auto' | 'legacy' } = {},
): Promise<Client> {
  const client = new Client(self, { capabilities, versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(url, init(key)));
  onTestFinished(() => client.close());
  return client;
}

/** The official client of the first generation. */
export async function oldClient(url: URL, { key, capabilities = {} }: ClientChoice = {}): Promise<OldClient> {
  const client = new OldClient(self, { capabilities });
  // its types were not written for exactOptionalPropertyTypes
  await client.connect(new OldTransport(url, init(key)) as never);
  onTestFinished(() => client.close());
  return client;
}

interface Result {
  content?: unknown;
  isError?: unknown;
  structuredContent?: unknown;
}

export const textOf = ({ content }: Result): string =>
  (content as { type: string; text: string }[]).map(({ text }) => text).join('\n');

/** The error of a tool, as a model reads it. */
export const errorOf = (result: Result): { code: string; message: string; hint?: string } => {
  if (result.isError !== true) throw new Error(`no error: ${JSON.stringify(result)}`);
  return (JSON.parse(textOf(result)) as { error: never }).error;
};

/** What a tool says about a run. */
export const runOf = ({ structuredContent }: Result) =>
  structuredContent as {
    thread_id: string;
    run_id: string;
    status: string;
    output?: unknown;
    open_calls?: { call: string; kind: string }[];
  };
