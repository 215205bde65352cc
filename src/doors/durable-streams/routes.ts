import type { Door } from '../../server/door.ts';
import type { Context } from 'hono';
import type { Answer, Readable } from './protocol.ts';
import type { StreamDoor } from './door.ts';
import type { StreamRequest } from './request.ts';
import type { StreamRef } from '../../database/store/stream/streams.ts';
import { isLanefoldError } from '../../base/errors.ts';
import { holdAnswer } from '../../server/answer.ts';
import { dropBody } from '../../server/body.ts';
import type { ByteBudget } from '../../server/byte-budget.ts';
import type { ApiApp, ApiEnv } from '../../server/env.ts';
import type { LiveStreams } from '../../server/live-streams.ts';
import { sse } from '../../server/sse.ts';
import { after, onAbort } from '../../base/common/timer.ts';
import { createRoute, z } from '@hono/zod-openapi';
import { bodyProblems, problems } from '../../server/schemas/problem.ts';
import { Id } from '../../server/declared/wire-schema.ts';
import { run, security, thread } from '../../server/routes/shared.ts';

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

/** Clients reconnect about once a minute, so that proxies can serve many of them together. */
const sseMs = 60_000;

type StreamContext = Context<ApiEnv>;

/** The Durable Streams protocol over the HTTP API. The code behind its routes loads with the first request. */
export const durableStreamsDoor: Door = {
  access: {
    readStream: { scope: 'read' },
    readThreadStream: { scope: 'read' },
    readThreadTrace: { scope: 'read' },
    readRunTrace: { scope: 'read' },
    createStream: { scope: 'run' },
    createThreadStream: { scope: 'run' },
    appendStream: { scope: 'run' },
    appendThreadStream: { scope: 'run' },
    deleteStream: { scope: 'run', audit: 'delete_stream' },
    deleteThreadStream: { scope: 'run', audit: 'delete_stream' },
  },
  addOpen: (app) => addStreamPreflight(app),
  add: (app, { streams, answers }) => addDurableStreams(app, streams, answers),
};

function addDurableStreams(app: ApiApp, streams: LiveStreams, answers: ByteBudget): void {
  for (const each of Object.values(writable)) {
    app.openapi(createOperation(each), (c) => write(c, (door, ref) => door.create(ref, requestOf(c))));
    app.openapi(appendOperation(each), (c) => write(c, (door, ref) => door.append(ref, requestOf(c))));
    app.openapi(readOperation(each), (c) => answerRead(c, (door) => door.stream(refOf(c))));
    app.openapi(deleteOperation(each), async (c) => {
      await (await openDoor(c)).delete(refOf(c));
      return c.body(null, 204);
    });
  }
  app.openapi(readThreadTrace, (c) => answerRead(c, (door) => door.trace(c.req.valid('param').thread_id, undefined)));
  app.openapi(readRunTrace, (c) => {
    const { thread_id: threadId, run_id: runId } = c.req.valid('param');
    return answerRead(c, (door) => door.trace(threadId, runId));
  });

  async function write(c: StreamContext, work: (door: StreamDoor, ref: StreamRef) => Promise<Answer>): Promise<never> {
    const door = await openDoor(c);
    return send(c, await explained(c, () => work(door, refOf(c))));
  }

  async function answerRead(c: StreamContext, open: (door: StreamDoor) => Readable): Promise<never> {
    const { catchUp, describe, longPoll } = await import('./read.ts');
    const { readQuery } = await import('./request.ts');
    const stream = open(await openDoor(c));
    if (c.req.method === 'HEAD') return send(c, await describe(stream));
    const { from, live, cursor } = readQuery(new URL(c.req.url));
    if (live === undefined) return send(c, await catchUp(stream, from, c.req.header('if-none-match')));
    if (live === 'sse') return (await follow(c, stream, from, cursor)) as never;
    const place = streams.open(c);
    // a client that has left keeps no place
    onAbort(c.req.raw.signal, place.end);
    try {
      const answer = await longPoll(stream, from, cursor, place.signal);
      const refusal = place.refusal();
      if (refusal) throw refusal;
      return send(c, answer);
    } finally {
      place.end();
    }
  }

  async function follow(c: StreamContext, stream: Readable, from: number | undefined, cursor: string | undefined) {
    const { encodingHeaders, toFrames } = await import('./read.ts');
    const { budget, onError } = streams.limits;
    const on = { method: c.req.method, path: c.req.path };
    dropBody(c);
    const live = streams.open(c);
    const opening = stream.read(from);
    opening.catch(live.end);
    const first = await opening;
    for (const [name, value] of Object.entries(encodingHeaders(first))) c.header(name, value);
    const timer = after(sseMs, live.end, { ref: false });
    const end = () => {
      timer.cancel();
      live.end();
    };
    const frames = toFrames(stream, first, cursor, live.signal);
    return sse(c, frames, { abort: end, budget, onError: (error) => onError(error, on) });
  }

  async function openDoor(c: StreamContext): Promise<StreamDoor> {
    const { openDoor } = await import('./door.ts');
    const on = { method: c.req.method, path: c.req.path };
    return openDoor(c.var.lanefold, (error) => streams.limits.onError(error, on));
  }

  function send(c: StreamContext, { status, headers, body }: Answer): never {
    if (body) holdAnswer(c, answers, body.byteLength);
    return c.body((body ?? null) as never, status as 200, headers) as never;
  }
}

const refOf = (c: StreamContext): StreamRef => ({ threadId: c.req.param('thread_id'), name: c.req.param('name')! });

const requestOf = (c: StreamContext): StreamRequest => ({
  url: new URL(c.req.url),
  header: (name) => c.req.header(name),
  body: c.get('body'),
});

/** Some errors of the protocol say more in headers. */
async function explained(c: StreamContext, work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    const headers = isLanefoldError(error) ? error.details?.['headers'] : undefined;
    for (const [name, value] of Object.entries((headers ?? {}) as Record<string, string>)) c.header(name, value);
    throw error;
  }
}

/**
 * Answers what browsers ask before a request of another origin. It names no origin, so browsers do not send the request: as for
 * the rest of the API, pages call their own server.
 */
function addStreamPreflight(app: ApiApp): void {
  for (const { path } of Object.values(writable)) {
    app.options(path.replaceAll(/\{(\w+)\}/g, ':$1'), (c) =>
      c.body(null, 204, {
        'Access-Control-Allow-Methods': 'GET, HEAD, PUT, POST, DELETE',
        'Access-Control-Allow-Headers': `authorization, content-type, if-none-match, ${[...Object.keys(createHeaders.shape), ...Object.keys(appendHeaders.shape)].join(', ').toLowerCase()}`,
      }),
    );
  }
}

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
const writable = {
  tenant: { path: '/v1/stream/{name}', params: named, suffix: 'Stream', of: 'that belongs to no thread' },
  thread: {
    path: '/v1/threads/{thread_id}/streams/{name}',
    params: inThread,
    suffix: 'ThreadStream',
    of: 'of a thread',
  },
} as const;

type Place = (typeof writable)[keyof typeof writable];

const createOperation = ({ path, params, suffix, of }: Place) =>
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

const appendOperation = ({ path, params, suffix, of }: Place) =>
  createRoute({
    ...shared,
    method: 'post',
    path,
    operationId: `append${suffix}`,
    summary: `Append to a stream ${of}, or close it`,
    request: { params, headers: appendHeaders, body: written },
    responses: appended,
  });

const readOperation = ({ path, params, suffix, of }: Place) =>
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

const deleteOperation = ({ path, params, suffix, of }: Place) =>
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

const readThreadTrace = createRoute({
  ...shared,
  method: 'get',
  path: '/v1/threads/{thread_id}/stream',
  operationId: 'readThreadTrace',
  summary: 'Read the trace of all runs of a thread as a durable stream',
  request: { params: thread, query: streamQuery },
  responses: read,
});

const readRunTrace = createRoute({
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

const createHeaders = z.object({
  'Stream-TTL': header('Seconds for which it is kept after it was last read or written.'),
  'Stream-Expires-At': header('When it is deleted, in RFC 3339. Not with `Stream-TTL`.'),
  'Stream-Closed': closed,
  'Stream-Forked-From': header('The path of a stream whose data it begins with.'),
  'Stream-Fork-Offset': header('Where it leaves its source; default: the end.'),
  'Stream-Fork-Sub-Offset': header('How many messages, or bytes, it takes after that offset, within one append.'),
});

const appendHeaders = z.object({
  'Stream-Seq': header('Must be greater than the previous one; compared byte by byte.'),
  'Stream-Closed': closed,
  'Producer-Id': header('Who writes, over restarts. Sent with the other two.'),
  'Producer-Epoch': header('Rises with each start of the producer; a lower one is refused.'),
  'Producer-Seq': header('Counts the requests of an epoch from 0; one that was sent before is not written again.'),
});
