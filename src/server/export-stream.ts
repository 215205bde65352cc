import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { isLanefoldError } from '../base/errors.ts';
import { exportPageBytes } from '../database/store/portable/read-export.ts';
import { partyOf } from './access/limited-parties.ts';
import type { ApiEnv } from './env.ts';
import type { LiveStreams } from './live-streams.ts';
import { onAbort } from '../base/common/timer.ts';

export const exportHeaders = { 'content-type': 'application/x-ndjson; charset=utf-8' };

/** A client that reads nothing for this long is disconnected. */
const stallMs = 30_000;

/**
 * Answers with the lines of an export, of which the next one is read when the client has taken the one before. It has a place
 * among the streams of the server and holds the bytes of a page, or of a longer line, from their budget. It breaks off when its
 * key no longer allows it or the server closes.
 *
 * @throws LanefoldError `server_busy`, and what the first line throws: a thread that does not exist is an answer
 */
export async function sendExport(
  c: Context<ApiEnv>,
  streams: LiveStreams,
  lines: AsyncGenerator<string, void, void>,
): Promise<Response> {
  const { budget, onError } = streams.limits;
  const live = streams.open(c);
  const holding = budget.open(partyOf(c.get('principal')));
  let held = 0;
  const hold = (bytes: number) => {
    // a single page always fits
    const more = Math.min(bytes, budget.bytes) - held;
    if (more > 0) holding.take(more);
    held += Math.max(more, 0);
  };
  const { outgoing } = (c.env ?? {}) as Partial<HttpBindings>;
  let sending: ReadableStreamDefaultController<Uint8Array> | undefined;
  // an end without a head, which also reaches a client that reads nothing
  const breakOff = (why: unknown) => {
    if (outgoing) outgoing.destroy();
    else sending?.error(why);
  };
  const broken = () => {
    end();
    breakOff(live.refusal() ?? new Error('The server closes.'));
  };
  let unlisten = () => {};
  const end = () => {
    unlisten();
    live.end();
    holding.release();
    void lines.return().catch(() => {});
  };
  try {
    hold(exportPageBytes);
    unlisten = onAbort(live.signal, broken);
    // a client may leave before a body is read that could be cancelled
    onAbort(c.req.raw.signal, end);
    outgoing?.once('close', end);
    let line: IteratorResult<string, void> | undefined = await lines.next();
    outgoing?.setTimeout(stallMs, () => outgoing.destroy());
    const encoder = new TextEncoder();
    const chunks = new ReadableStream<Uint8Array>({
      start(controller) {
        sending = controller;
        if (live.signal.aborted) breakOff(live.refusal());
      },
      async pull(controller) {
        try {
          const { done, value } = line ?? (await lines.next());
          line = undefined;
          if (live.signal.aborted) return;
          if (done) {
            controller.close();
            return end();
          }
          hold(value.length);
          controller.enqueue(encoder.encode(`${value}\n`));
        } catch (error) {
          if (live.signal.aborted) return;
          end();
          if (!isLanefoldError(error, 'server_busy')) onError(error, { method: c.req.method, path: c.req.path });
          breakOff(error);
        }
      },
      cancel: end,
    });
    return c.body(chunks as never, 200, exportHeaders);
  } catch (error) {
    end();
    throw error;
  }
}
