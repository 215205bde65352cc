import type { Context } from 'hono';
import { uiMessageHeader } from '../../runs/formats/ui-messages/answer.ts';
import { LanefoldError } from '../../base/errors.ts';
import { omitUndefined } from '../../base/common/json.ts';
import type { RunEvent } from '../../database/store/run/types.ts';
import type { Handler } from '../declared/routes.ts';
import type { ApiEnv } from '../env.ts';
import { toEventMessages, toTreeMessages } from '../event-messages.ts';
import { openAwaited } from '../open-awaited.ts';
import { invalidRequest } from '../problem.ts';
import type { ServeStream } from '../serve-stream.ts';
import { toUiEvents } from '../ui-events.ts';

/** The query of `eventQuery`. */
export interface EventQuery {
  format?: 'json' | 'sse' | 'ui' | undefined;
  after?: number | undefined;
  limit?: number | undefined;
  deltas?: 'true' | 'false' | undefined;
  entries?: 'true' | 'false' | undefined;
  wait?: 'true' | 'false' | undefined;
}

type Format = NonNullable<EventQuery['format']>;

/** The events of a run: a page, or a stream. */
export const eventsOf =
  (serve: ServeStream): Handler =>
  async ({ c, lanefold, options, run }) => {
    const query: EventQuery = options;
    const format = formatOf(c, query);
    if (format !== 'json') return follow(serve, c, { format, threadId: run.threadId, runId: run.id, query });
    const page = await pageOfEvents(query, (paged) => lanefold.runs.events(run, paged));
    if (page.data.length === 0) await lanefold.runs.get(run);
    return page;
  };

/** A page of the events that `read` reads, with the number of the last one if there are more. */
export async function pageOfEvents(
  { after, limit = 100 }: EventQuery,
  read: (options: { after?: number; limit: number }) => Promise<RunEvent[]>,
): Promise<{ data: RunEvent[]; nextAfter: number | null }> {
  const found = await read({ ...omitUndefined({ after }), limit: limit + 1 });
  const data = found.slice(0, limit);
  return { data, nextAfter: found.length > limit ? data.at(-1)!.eventSeq : null };
}

interface Followed {
  format: Exclude<Format, 'json'>;
  threadId: string;
  runId?: string;
  query: EventQuery;
}

/** Streams the events of a thread or a run. */
export async function follow(serve: ServeStream, c: Context<ApiEnv>, what: Followed): Promise<Response> {
  const { format, threadId, query } = what;
  const ui = format === 'ui';
  if (query.entries === 'true' && c.var.principal.operations) throw entriesForbidden();
  // A chat that reconnects knows only its thread; 204 means that no answer is in progress.
  const runId = what.runId ?? (ui ? (await c.var.lanefold.threads.peek(threadId)).activeRunId : undefined);
  if (runId === null) return c.body(null, 204);
  const lastId = c.req.header('last-event-id') || undefined;
  return serve(c, async (signal) => {
    const open = () =>
      c.var.lanefold.streams.open(threadId, runId, {
        // A UI message always starts from its beginning, because its chunks have no ids to resume from.
        ...(ui ? { entries: true } : omitUndefined({ after: lastId === undefined ? query.after : Number(lastId) })),
        deltas: query.deltas !== 'false',
        ...(query.entries === 'true' ? { entries: true } : {}),
        signal,
      });
    if (query.wait === 'true') return openAwaited(c, { threadId, runId }, open, signal);
    const { items, over } = await open();
    if (!ui) return { over, messages: (why) => toEventMessages(items, why) };
    c.header(...uiMessageHeader);
    return { over: false, messages: (why) => toUiEvents(items, { threadId, runId: runId! }, why) };
  });
}

/** Entries have system prompts and what the model reads of tools, which no page gets. */
const entriesForbidden = (): LanefoldError =>
  new LanefoldError('forbidden', 'A browser token may not read the entries of a stream.', {
    hint: 'Leave entries out, or use a key.',
  });

/** The requested format. Rejects parameters that do not apply to it. */
export function formatOf(c: Context<ApiEnv>, query: EventQuery): Format {
  const { format, after, limit, deltas, entries, wait } = query;
  const chosen = format ?? (/\btext\/event-stream\b/.test(c.req.header('accept') ?? '') ? 'sse' : 'json');
  const others = { json: { deltas, entries, wait }, sse: { limit }, ui: { limit, after, entries, wait } }[chosen];
  const wrong = Object.entries(others).filter(([, value]) => value !== undefined);
  if (wrong.length === 0) return chosen;
  const message = chosen === 'json' ? 'Only applies to a stream.' : 'Does not apply to this stream.';
  throw invalidRequest(wrong.map(([path]) => ({ path, message })));
}

/** Streams the events of a tree of runs. */
export const streamTree =
  (serve: ServeStream): Handler =>
  ({ c, lanefold, options, run }) => {
    const { after, deltas, entries } = options as Omit<EventQuery, 'after'> & { after?: string };
    const lastId = c.req.header('last-event-id') || after;
    return serve(c, async (signal) => {
      const { items, over } = await lanefold.streams.openTree(run, {
        deltas: deltas !== 'false',
        entries: entries === 'true',
        signal,
        ...omitUndefined({ after: lastId }),
      });
      return { over, messages: (why) => toTreeMessages(items, why) };
    });
  };
