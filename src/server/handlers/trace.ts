import type { Context } from 'hono';
import { omitUndefined } from '../../base/common/json.ts';
import { pageOf } from '../../base/common/page.ts';
import { LanefoldError } from '../../base/errors.ts';
import { uiMessageHeader } from '../../runs/formats/ui-messages/answer.ts';
import type { Given, Handler } from '../declared/routes.ts';
import type { ApiEnv } from '../env.ts';
import { toEventMessages, toTreeMessages } from '../event-messages.ts';
import { openAwaited } from '../open-awaited.ts';
import { invalidRequest } from '../problem.ts';
import type { ServeStream } from '../serve-stream.ts';
import { toUiEvents } from '../ui-events.ts';

type Format = 'json' | 'sse' | 'ui';
type Flag = 'true' | 'false';

/** The query of `tracing`. */
interface TraceQuery {
  format?: Format;
  after?: number;
  limit?: number;
  deltas?: Flag;
  entries?: Flag;
  wait?: Flag;
}

/** Reads or follows the trace of a run, or of all runs of a thread: `params` has the run or has not. */
export const eventsHandler =
  (serve: ServeStream): Handler =>
  async ({ c, lanefold, params, options, headers }) => {
    const threadId = params['threadId']!;
    const id = params['runId'];
    const query: TraceQuery = options;
    const format = formatOf(c, query);
    if (format !== 'json')
      return follow(serve, c, { format, threadId, runId: id, query, lastId: headers['Last-Event-ID'] });
    const { after, limit = 100 } = query;
    const asked = omitUndefined({ after, limit: limit + 1 });
    const run = id === undefined ? undefined : { threadId, id };
    const found = await (run ? lanefold.runs.events(run, asked) : lanefold.threads.events(threadId, asked));
    if (found.length === 0) await (run ? lanefold.runs.get(run) : lanefold.threads.peek(threadId));
    return pageOf(found, limit, ({ eventSeq }) => eventSeq);
  };

interface Followed {
  format: Exclude<Format, 'json'>;
  threadId: string;
  runId: string | undefined;
  query: TraceQuery;
  /** The event after which the stream resumes. */
  lastId: string | undefined;
}

async function follow(serve: ServeStream, c: Given['c'], what: Followed): Promise<Response> {
  const { format, threadId, query, lastId } = what;
  const ui = format === 'ui';
  if (query.entries === 'true' && c.var.principal.operations) throw entriesForbidden();
  // A chat that reconnects knows only its thread; 204 means that no answer is in progress.
  const runId = what.runId ?? (ui ? (await c.var.lanefold.threads.peek(threadId)).activeRunId : undefined);
  if (runId === null) return c.body(null, 204);
  return serve(c, async (signal) => {
    const open = () =>
      c.var.lanefold.streams.open(threadId, runId, {
        // A UI message always starts from its beginning, because its chunks have no ids to resume from.
        ...(ui ? { entries: true } : omitUndefined({ after: lastId ? Number(lastId) : query.after })),
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
function formatOf(c: Context<ApiEnv>, { format, after, limit, deltas, entries, wait }: TraceQuery): Format {
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
    const { after, deltas, entries } = options as Omit<TraceQuery, 'after'> & { after?: string };
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
