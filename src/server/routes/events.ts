import { createRoute, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { uiMessageHeader } from '../../runs/formats/ui-messages/answer.ts';
import { LanefoldError } from '../../base/errors.ts';
import { omitUndefined } from '../../base/common/json.ts';
import type { ApiApp, ApiEnv } from '../env.ts';
import { toEventMessages } from '../event-messages.ts';
import { pageOf } from '../json.ts';
import { invalidRequest } from '../problem.ts';
import { problems } from '../schemas/problem.ts';
import { RunEventPage } from '../schemas/run.ts';
import { after, limit, trueOrFalse } from '../schemas/values.ts';
import { toUiEvents } from '../ui-events.ts';
import { openAwaited } from '../open-awaited.ts';
import type { ServeStream } from '../serve-stream.ts';
import { json, orMissing, run, security, thread } from './shared.ts';

const tags = ['Events'];

const streaming = {
  format: z
    .enum(['json', 'sse', 'ui'])
    .optional()
    .openapi({
      param: {
        description:
          '`json`: a page. `sse`: a live stream of server-sent events, also selected by `Accept: text/event-stream`. `ui`: the ' +
          'AI SDK’s UI message stream of the run, or of the thread’s active run.',
      },
    }),
  after: after('events', 'event_seq'),
  deltas: trueOrFalse('Streams only: include answers while they are generated; default true.'),
  entries: trueOrFalse(
    'Streams only: add `entry` to each event about an entry, with the payload of that entry. Not for browser tokens.',
  ),
  wait: trueOrFalse(
    'Server-sent events only: if the thread or run does not exist yet, wait for it instead of answering 404. The first ' +
      'message is `exists`.',
  ),
};

const streamQuery = z.strictObject({ limit: limit(100), ...streaming });
type StreamQuery = z.infer<typeof streamQuery>;

const lastEventId = z.object({
  'Last-Event-ID': z
    .string()
    .regex(/^\d{0,15}$/, 'Must be the event_seq of an event of this stream.')
    .optional()
    .openapi({ param: { description: 'Streams only: resume after this event. Browsers send it automatically.' } }),
});

const streamed = {
  200: (page: Parameters<typeof json>[1]) => ({
    description:
      'A page of events, or a stream. A stream sends trace events, each named by its kind and with its `event_seq` as `id`. ' +
      'It also sends messages without an id: `llm_delta` {run_id, llm_call_id, offset, text or thinking}, `llm_snapshot` ' +
      '{run_id, llm_call_id, text, thinking}, and, if nothing happens because no worker can take the run, `unattended` ' +
      '{thread_id, run_id, agent, reason, message}. With `wait`, `exists` {thread_id, run_id} comes first. The stream of a run ends after its last event; the stream of a thread ' +
      'does not end. Once the key no longer allows a stream, the stream ends with `problem`, also without an id.',
    content: {
      ...json('', page).content,
      'text/event-stream': {
        schema: z.string().openapi({ example: 'event: llm_started\nid: 1\ndata: {"event_seq":1}\n\n' }),
      },
    },
  }),
  204: { description: 'The stream has ended: do not reconnect.' },
};

const listRunEvents = createRoute({
  method: 'get',
  path: '/v1/threads/{thread_id}/runs/{run_id}/events',
  operationId: 'listRunEvents',
  tags,
  security,
  summary: 'Read the trace of a run, or follow it live',
  request: {
    params: run,
    headers: lastEventId,
    query: streamQuery,
  },
  responses: { 200: streamed[200](RunEventPage), 204: streamed[204], ...problems(404, 410) },
});

const listThreadEvents = createRoute({
  method: 'get',
  path: '/v1/threads/{thread_id}/events',
  operationId: 'listThreadEvents',
  tags,
  security,
  summary: 'Read the trace of all runs of a thread, or follow it live',
  request: {
    params: thread,
    headers: lastEventId,
    query: streamQuery,
  },
  responses: { 200: streamed[200](RunEventPage), 204: streamed[204], ...problems(404, 410) },
});

export function addEvents(app: ApiApp, serve: ServeStream): void {
  app.openapi(listRunEvents, async (c) => {
    const { thread_id: threadId, run_id: id } = c.req.valid('param');
    const query = c.req.valid('query');
    const { after: from, limit: most = 100 } = query;
    const format = formatOf(c, query);
    if (format !== 'json') return follow(c, { format, threadId, runId: id, query }) as never;
    const found = await c.var.lanefold.runs.events({ threadId, id }, omitUndefined({ after: from, limit: most + 1 }));
    if (found.length === 0) await c.var.lanefold.runs.get({ threadId, id });
    const { data, next } = pageOf(found, most, (event) => event.eventSeq);
    return c.json({ data, next_after: next }, 200);
  });

  app.openapi(listThreadEvents, async (c) => {
    const { thread_id: threadId } = c.req.valid('param');
    const query = c.req.valid('query');
    const { after: from, limit: most = 100 } = query;
    const format = formatOf(c, query);
    if (format !== 'json') return follow(c, { format, threadId, query }) as never;
    const found = await c.var.lanefold.threads.events(threadId, omitUndefined({ after: from, limit: most + 1 }));
    const { data, next } = pageOf(await orMissing(c.var.lanefold, threadId, found), most, (event) => event.eventSeq);
    return c.json({ data, next_after: next }, 200);
  });

  async function follow(c: Context<ApiEnv>, what: Followed): Promise<Response> {
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
}

/** Entries have system prompts and what the model reads of tools, which no page gets. */
const entriesForbidden = (): LanefoldError =>
  new LanefoldError('forbidden', 'A browser token may not read the entries of a stream.', {
    hint: 'Leave entries out, or use a key.',
  });

type Format = NonNullable<StreamQuery['format']>;

interface Followed {
  format: Exclude<Format, 'json'>;
  threadId: string;
  runId?: string;
  query: StreamQuery;
}

/** The requested format. Rejects parameters that do not apply to it. */
function formatOf(c: Context<ApiEnv>, { format, after, limit, deltas, entries, wait }: StreamQuery): Format {
  const chosen = format ?? (/\btext\/event-stream\b/.test(c.req.header('accept') ?? '') ? 'sse' : 'json');
  const others = { json: { deltas, entries, wait }, sse: { limit }, ui: { limit, after, entries, wait } }[chosen];
  const wrong = Object.entries(others).filter(([, value]) => value !== undefined);
  if (wrong.length === 0) return chosen;
  const message = chosen === 'json' ? 'Only applies to a stream.' : 'Does not apply to this stream.';
  throw invalidRequest(wrong.map(([path]) => ({ path, message })));
}
