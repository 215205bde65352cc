import {
  UriTemplate,
  type ResourceTemplateType,
  ResourceNotFoundError,
  type Resource,
} from '@modelcontextprotocol/server';
import type { ThreadEntry } from '../../database/store/log/types.ts';
import type { ThreadSummary } from '../../runs/operations/threads/types.ts';
import type { Json } from '../../server/json.ts';
import { isLanefoldError, LanefoldError } from '../../base/errors.ts';
import { asProtocolError, runPath, threadPath, type Api, held, type McpContext } from './api.ts';

/** A kind of resource: its template, and the path of the HTTP API that reads it. */
interface Kind extends ResourceTemplateType {
  uriTemplate: string;
}

const json = { mimeType: 'application/json' };

const templates = [
  {
    ...json,
    uriTemplate: 'lanefold://threads/{thread_id}',
    name: 'thread',
    title: 'A thread',
    description: 'One conversation: its state, its active run, its tokens and cost.',
  },
  {
    ...json,
    uriTemplate: 'lanefold://threads/{thread_id}/contexts/{context_ref}{?at_seq}',
    name: 'context',
    title: 'A context of a thread',
    description: 'The system prompt and the messages that a model sees next, or saw as of the entry at_seq.',
  },
  {
    ...json,
    uriTemplate: 'lanefold://threads/{thread_id}/runs/{run_id}',
    name: 'run',
    title: 'A run',
    description: 'Status, result, usage and tool calls of a run.',
  },
  {
    ...json,
    uriTemplate: 'lanefold://threads/{thread_id}/calls/{seq}',
    name: 'call',
    title: 'A model call',
    description:
      'What the model saw when it wrote the answer in the entry seq of the log, with the hash of its messages.',
  },
] as const satisfies Kind[];

type ResourceName = (typeof templates)[number]['name'];

export const threadUri = (threadId: string): string => `lanefold://threads/${encodeURIComponent(threadId)}`;

/** The SDK takes no URI without the query of its template, so queries are read here. */
const parsers = templates.map(({ name, uriTemplate }) => {
  const [path = '', query = ''] = uriTemplate.split('{?');
  return { name, template: new UriTemplate(path), known: query.replace('}', '') };
});

/** What a URI names, with its variables decoded; undefined: nothing here. */
export function readUri(uri: string): { name: ResourceName; variables: Record<string, string> } | undefined {
  const [path = '', query] = uri.split('?');
  for (const { name, template, known } of parsers) {
    const match = template.match(path);
    if (!match) continue;
    const asked = [...new URLSearchParams(query)];
    if (asked.some(([key]) => key !== known)) return undefined;
    try {
      const texts = Object.entries(match).map(([key, value]) => [key, decodeURIComponent(String(value))]);
      return { name, variables: Object.fromEntries([...texts, ...asked]) as Record<string, string> };
    } catch {
      return undefined;
    }
  }
  return undefined;
}

const pageSize = 50;
/** A resource has at most as many bytes as a page of entries, which clients read over HTTP. */
const maxBytes = 4 * 1024 * 1024;

/** Answers `resources/list`, `resources/templates/list` and `resources/read`. */
export function addResources(mcp: McpContext): void {
  const { api } = mcp;
  const { server } = mcp.server;
  server.registerCapabilities({ resources: {} });
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [...templates] }));
  server.setRequestHandler('resources/list', async ({ params }) => {
    const after = params?.cursor === undefined ? '' : `&after=${encodeURIComponent(params.cursor)}`;
    try {
      const { data, next_after: nextCursor } = await api.get<{
        data: Json<ThreadSummary>[];
        next_after: string | null;
      }>(`/v1/threads?limit=${pageSize}${after}`);
      return held(mcp, { resources: data.map(listed), ...(nextCursor === null ? {} : { nextCursor }) });
    } catch (error) {
      // a key bound to threads or agents may not list them, only read its own
      if (isLanefoldError(error, 'forbidden')) return { resources: [] };
      return asProtocolError(error);
    }
  });
  server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
    const named = readUri(uri);
    if (!named) throw new ResourceNotFoundError(uri);
    try {
      const path = await paths[named.name](named.variables, api);
      if (path === undefined) throw new ResourceNotFoundError(uri);
      const text = await api.text(path);
      if (Buffer.byteLength(text) > maxBytes) throw tooLarge(path);
      return held(mcp, { contents: [{ uri, mimeType: 'application/json', text }] });
    } catch (error) {
      if (isLanefoldError(error) && error.status === 404) throw new ResourceNotFoundError(uri);
      return asProtocolError(error);
    }
  });
}

const listed = (thread: Json<ThreadSummary>): Resource => ({
  uri: threadUri(thread.id),
  name: thread.id,
  mimeType: 'application/json',
  ...(thread.last_message === null ? {} : { description: thread.last_message }),
  annotations: { lastModified: thread.updated_at },
});

const tooLarge = (path: string): LanefoldError =>
  new LanefoldError('resource_too_large', `The resource is larger than ${maxBytes} bytes.`, {
    hint: `Read it over HTTP: GET ${path}`,
  });

/** The path of the HTTP API at which a resource is read; undefined: there is no such path. */
type PathOf = (variables: Record<string, string>, api: Api) => string | undefined | Promise<string | undefined>;

const paths: Record<ResourceName, PathOf> = {
  thread: ({ thread_id: threadId }) => threadPath(threadId!),
  context: ({ thread_id: threadId, context_ref: ref, at_seq: seq }) =>
    `${threadPath(threadId!)}/contexts/${encodeURIComponent(ref!)}${seq === undefined ? '' : `?at_seq=${encodeURIComponent(seq)}`}`,
  run: ({ thread_id, run_id }) => runPath({ thread_id: thread_id!, run_id: run_id! }),
  async call({ thread_id: threadId, seq }, api) {
    if (!/^\d{1,15}$/.test(seq!)) return undefined;
    const { data } = await api.get<{ data: Json<ThreadEntry>[] }>(
      `${threadPath(threadId!)}/entries?after=${Number(seq) - 1}&limit=1`,
    );
    const [entry] = data;
    const callId = entry?.seq === Number(seq) ? entry.refs['llm_call_id'] : undefined;
    return typeof callId === 'string' ? `${threadPath(threadId!)}/calls/${encodeURIComponent(callId)}` : undefined;
  },
};
