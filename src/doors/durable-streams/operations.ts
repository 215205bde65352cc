import { createRoute, z } from '@hono/zod-openapi';
import { Id } from '../../server/declared/wire-schema.ts';
import { run, security, thread } from '../../server/routes/shared.ts';
import { bodyProblems, problems } from '../../server/schemas/problem.ts';

/* The operations of the Durable Streams protocol, as the OpenAPI document has them. */

const streamData = z
  .string()
  .openapi('StreamData', { format: 'binary', description: 'Data of any type.', example: '[{"text":"Hello"}]' });

/** Unknown parameters are ignored, as the protocol asks. */
const streamQuery = z.looseObject({
  offset: z
    .any()
    .optional()
    .openapi({
      type: 'string',
      param: { description: 'A `Stream-Next-Offset`, `-1` for the start (the default), or `now`.' },
    }),
  live: z
    .any()
    .optional()
    .openapi({
      type: 'string',
      enum: ['long-poll', 'sse'],
      param: { description: 'Wait for data that is not there yet.' },
    }),
  cursor: z
    .any()
    .optional()
    .openapi({ type: 'string', param: { description: 'The `Stream-Cursor` of the read before.' } }),
});

const shared = { tags: ['Durable streams'], security };

const named = z.object({ name: Id });

const inThread = thread.extend({ name: Id });

const read = {
  200: {
    description:
      'The data from the offset on, with `Stream-Next-Offset`, `Stream-Up-To-Date` and `Stream-Closed`: an array of messages ' +
      'if the type is `application/json`. With `live=sse`: server-sent events, `data` and after each `control`.',
    content: { '*/*': { schema: streamData } },
  },
  204: { description: 'With `live=long-poll`: nothing came, or the stream is closed.' },
  304: { description: 'Nothing changed since the `ETag` of `If-None-Match`.' },
  ...problems(404, 410),
};

const written = { content: { '*/*': { schema: streamData } }, required: false };

const created = {
  200: { description: 'The same request created the stream before.' },
  201: { description: 'The stream is created; `Stream-Next-Offset` is its end.' },
  ...problems(404, 409, 410, ...bodyProblems),
};

const appended = {
  200: { description: 'Data of a producer is appended.' },
  204: { description: 'The data is appended, or was before; or the stream is closed.' },
  ...problems(404, 409, 410, ...bodyProblems),
};

const deleted = { 204: { description: 'The stream is deleted.' }, ...problems(404, 410) };

/** Where clients write streams. */
export const writable = {
  tenant: { path: '/v1/stream/{name}', params: named, suffix: 'Stream', of: 'that belongs to no thread' },
  thread: {
    path: '/v1/threads/{thread_id}/streams/{name}',
    params: inThread,
    suffix: 'ThreadStream',
    of: 'of a thread',
  },
} as const;

type Place = (typeof writable)[keyof typeof writable];

export const createOperation = ({ path, params, suffix, of }: Place) =>
  createRoute({
    ...shared,
    method: 'put',
    path,
    operationId: `create${suffix}`,
    summary: `Create or fork a stream ${of}`,
    description: 'The Durable Streams protocol. The body is its first data.',
    request: { params, headers: createHeaders, body: written },
    responses: created,
  });

export const appendOperation = ({ path, params, suffix, of }: Place) =>
  createRoute({
    ...shared,
    method: 'post',
    path,
    operationId: `append${suffix}`,
    summary: `Append to a stream ${of}, or close it`,
    request: { params, headers: appendHeaders, body: written },
    responses: appended,
  });

export const readOperation = ({ path, params, suffix, of }: Place) =>
  createRoute({
    ...shared,
    method: 'get',
    path,
    operationId: `read${suffix}`,
    summary: `Read a stream ${of}, or follow it live`,
    description: '`HEAD` returns its end, type and lifetime, and whether it is closed.',
    request: { params, query: streamQuery },
    responses: read,
  });

export const deleteOperation = ({ path, params, suffix, of }: Place) =>
  createRoute({
    ...shared,
    method: 'delete',
    path,
    operationId: `delete${suffix}`,
    summary: `Delete a stream ${of}`,
    description: 'Its data is kept while forks need it.',
    request: { params },
    responses: deleted,
  });

export const readThreadTrace = createRoute({
  ...shared,
  method: 'get',
  path: '/v1/threads/{thread_id}/stream',
  operationId: 'readThreadTrace',
  summary: 'Read the trace of all runs of a thread as a durable stream',
  request: { params: thread, query: streamQuery },
  responses: read,
});

export const readRunTrace = createRoute({
  ...shared,
  method: 'get',
  path: '/v1/threads/{thread_id}/runs/{run_id}/stream',
  operationId: 'readRunTrace',
  summary: 'Read the trace of a run as a durable stream',
  description: 'It is closed once the run has ended.',
  request: { params: run, query: streamQuery },
  responses: read,
});

const header = (description: string) => z.string().optional().openapi({ param: { description } });

const closed = header('`true`: no more data can follow. Any other value is ignored.');

export const createHeaders = z.object({
  'Stream-TTL': header('Seconds for which it is kept after it was last read or written.'),
  'Stream-Expires-At': header('When it is deleted, in RFC 3339. Not with `Stream-TTL`.'),
  'Stream-Closed': closed,
  'Stream-Forked-From': header('The path of a stream whose data it begins with.'),
  'Stream-Fork-Offset': header('Where it leaves its source; default: the end.'),
  'Stream-Fork-Sub-Offset': header('How many messages, or bytes, it takes after that offset, within one append.'),
});

export const appendHeaders = z.object({
  'Stream-Seq': header('Must be greater than the previous one; compared byte by byte.'),
  'Stream-Closed': closed,
  'Producer-Id': header('Who writes, over restarts. Sent with the other two.'),
  'Producer-Epoch': header('Rises with each start of the producer; a lower one is refused.'),
  'Producer-Seq': header('Counts the requests of an epoch from 0; one that was sent before is not written again.'),
});
