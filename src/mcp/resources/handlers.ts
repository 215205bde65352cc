import { ResourceNotFoundError, type Resource } from '@modelcontextprotocol/server';
import type { z } from '@hono/zod-openapi';
import type { EntryPage, ThreadPage } from '../../api/schemas/thread.ts';
import { isLanefoldError } from '../../errors.ts';
import { asProtocolError } from '../errors.ts';
import { runPath, threadPath, type Api } from '../api.ts';
import type { McpContext } from '../server-context.ts';
import { readUri, templates, threadUri, type ResourceName } from './uris.ts';

const pageSize = 50;

/** Answers `resources/list`, `resources/templates/list` and `resources/read`. */
export function addResources({ server: { server }, api }: McpContext): void {
  server.registerCapabilities({ resources: {} });
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [...templates] }));
  server.setRequestHandler('resources/list', async ({ params }) => {
    const after = params?.cursor === undefined ? '' : `&after=${encodeURIComponent(params.cursor)}`;
    try {
      const { data, next_after: nextCursor } = await api.get<z.infer<typeof ThreadPage>>(
        `/v1/threads?limit=${pageSize}${after}`,
      );
      return { resources: data.map(listed), ...(nextCursor === null ? {} : { nextCursor }) };
    } catch (error) {
      // a key bound to threads or agents lists none; it may read those that it is allowed
      if (isLanefoldError(error, 'forbidden')) return { resources: [] };
      return asProtocolError(error);
    }
  });
  server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
    const named = readUri(uri);
    if (!named) throw new ResourceNotFoundError(uri);
    try {
      const found = await readers[named.name](api, named.variables);
      if (found === undefined) throw new ResourceNotFoundError(uri);
      return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(found) }] };
    } catch (error) {
      if (isLanefoldError(error) && error.status === 404) throw new ResourceNotFoundError(uri);
      return asProtocolError(error);
    }
  });
}

const listed = (thread: z.infer<typeof ThreadPage>['data'][number]): Resource => ({
  uri: threadUri(thread.id),
  name: thread.id,
  mimeType: 'application/json',
  ...(thread.last_message === null ? {} : { description: thread.last_message }),
  annotations: { lastModified: thread.updated_at },
});

type Reader = (api: Api, variables: Record<string, string>) => Promise<unknown>;

const readers: Record<ResourceName, Reader> = {
  thread: (api, { thread_id: threadId }) => api.get(threadPath(threadId!)),
  context: (api, { thread_id: threadId, context_ref: ref, at_seq: seq }) =>
    api.get(
      `${threadPath(threadId!)}/contexts/${encodeURIComponent(ref!)}${seq === undefined ? '' : `?at_seq=${encodeURIComponent(seq)}`}`,
    ),
  run: (api, { thread_id, run_id }) => api.get(runPath({ thread_id: thread_id!, run_id: run_id! })),
  async call(api, { thread_id: threadId, seq }) {
    if (!/^\d{1,15}$/.test(seq!)) return undefined;
    const { data } = await api.get<z.infer<typeof EntryPage>>(
      `${threadPath(threadId!)}/entries?after=${Number(seq) - 1}&limit=1`,
    );
    const [entry] = data;
    const callId = entry?.seq === Number(seq) ? entry.refs['llm_call_id'] : undefined;
    return typeof callId === 'string'
      ? api.get(`${threadPath(threadId!)}/calls/${encodeURIComponent(callId)}`)
      : undefined;
  },
};
