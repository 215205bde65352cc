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
import {
  appendHeaders,
  appendOperation,
  createHeaders,
  createOperation,
  deleteOperation,
  readOperation,
  readRunTrace,
  readThreadTrace,
  writable,
} from './operations.ts';

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
