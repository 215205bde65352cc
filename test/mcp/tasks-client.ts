import type { Client } from '@modelcontextprotocol/client';
import {
  createTaskSessionFromClient,
  type TaskEnabledSession,
  type WithTasksOptions,
} from '@modelcontextprotocol/ext-tasks/client';
import { newClient } from './rig.ts';

const clientCapabilities = { elicitation: { form: {} }, extensions: { 'io.modelcontextprotocol/tasks': {} } };
const clientInfo = { name: 'judge', version: '1' };
const protocolVersion = '2026-07-28';

interface Rpc {
  method: string;
  params: Record<string, unknown>;
}

/** One request as the specification writes it, without the help of a client. */
export async function rawRequest(
  url: URL,
  request: Rpc & { id?: unknown; jsonrpc?: string },
  headers: Record<string, string> = {},
) {
  const { name, taskId, uri } = request.params;
  const named = name ?? taskId ?? uri;
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': protocolVersion,
      'mcp-method': request.method,
      ...(typeof named === 'string' ? { 'mcp-name': named } : {}),
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...request }),
  });
  return (await response.json()) as { result?: object; error?: { code: number; message: string; data?: never } };
}

/** What a client declares with each request. */
export const envelope = (capabilities: object = clientCapabilities) => ({
  'io.modelcontextprotocol/protocolVersion': protocolVersion,
  'io.modelcontextprotocol/clientInfo': clientInfo,
  'io.modelcontextprotocol/clientCapabilities': capabilities,
});

/** The official client of the extension of tasks. */
export async function taskSession(
  url: URL,
  options: WithTasksOptions = {},
): Promise<{ session: TaskEnabledSession; client: Client }> {
  const client = await newClient(url, { capabilities: clientCapabilities });
  const session = createTaskSessionFromClient(client, {
    endpointId: url.href,
    v2RequestFraming: { protocolVersion, clientInfo, clientCapabilities },
    rawDispatch: async (request) => {
      const { result, error } = await rawRequest(url, request as never);
      return error ? { kind: 'error', error } : { kind: 'result', result: result as never };
    },
    ...options,
  });
  return { session, client };
}
