import type { Context } from 'hono';
import { isLanefoldError } from '../base/errors.ts';
import { isMissing } from '../database/store/missing.ts';
import type { OpenStream } from '../runs/streams/stream.ts';
import type { ApiEnv } from './env.ts';
import { toEventMessages } from './event-messages.ts';
import { toJson } from './json.ts';
import type { Opened } from './serve-stream.ts';

/** A stream whose thread or run may not exist yet. Its first message, `exists`, comes as soon as it does. */
export async function openAwaited(
  c: Context<ApiEnv>,
  { threadId, runId }: { threadId: string; runId: string | undefined },
  open: () => Promise<OpenStream>,
  signal: AbortSignal,
): Promise<Opened> {
  const exists = { event: 'exists', data: JSON.stringify(toJson({ threadId, runId })) };
  const existing = await open().catch((error: unknown) => {
    if (!isMissing(error)) throw error;
    return undefined;
  });
  if (existing) {
    const { over, items } = existing;
    return {
      over,
      async *messages(refusal) {
        yield exists;
        yield* toEventMessages(items, refusal);
      },
    };
  }
  return {
    over: false,
    async *messages(refusal) {
      if (!(await c.var.lanefold.streams.arrived(threadId, runId, signal)))
        return yield* toEventMessages(nothing, refusal);
      let opened: OpenStream;
      try {
        // the key may not be allowed to see it: for instance, if another agent was asked in the thread
        await c.var.recheck();
        opened = await open();
      } catch (error) {
        if (!isLanefoldError(error)) throw error;
        return yield* toEventMessages(nothing, () => error);
      }
      yield exists;
      yield* toEventMessages(opened.items, refusal);
    },
  };
}

const nothing: AsyncIterable<never> = {
  [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true, value: undefined }) }),
};
