import { alarmsOf, type ClientAlarms } from './alarms.ts';
import { casesOf, type ClientCases } from './cases.ts';
import { Connection, type ConnectionOptions } from './connection.ts';
import { contextsOf, type ClientContexts } from './contexts.ts';
import { feedbackOf, type ClientFeedback } from './feedback.ts';
import type {
  Approval,
  BrowserToken,
  Json,
  LimitHolder,
  LimitList,
  ListApprovalsQuery,
  ListLimitHoldersQuery,
  ListLimitsQuery,
  ListWaitsQuery,
  NewBrowserToken,
  PendingWait,
  Resolution,
  ResolvedWait,
  RunRef,
  SentEvent,
} from './operations.ts';
import { runsOf, type ClientRuns } from './runs.ts';
import { threadsOf, type ClientThreads } from './threads.ts';
import type { CallOptions, KnownAgents, Page } from './types.ts';

/** The HTTP API of one server, under the names of the library. */
export interface Client<AGENTS extends KnownAgents = KnownAgents> {
  readonly runs: ClientRuns<AGENTS>;
  readonly threads: ClientThreads;
  readonly contexts: ClientContexts;
  /** Tool calls of all threads that wait for approval, soonest to expire first. Decide with `runs.approve`, `runs.deny`. */
  readonly approvals: { list(query?: ListApprovalsQuery, call?: CallOptions): Promise<Page<Approval>> };
  /** What tool calls wait for. */
  readonly waits: {
    list(query?: ListWaitsQuery, call?: CallOptions): Promise<Page<PendingWait>>;
    /** Gives a call that waits, such as `1.0`, a result, or an error. Repeating it changes nothing. */
    resolve(run: RunRef, waiting: string, given?: Resolution, call?: CallOptions): Promise<ResolvedWait>;
  };
  readonly events: {
    /**
     * Sends an event to the tool calls that wait for it. Not repeated after a lost answer, because a call that began to
     * wait in between would get it, too.
     */
    send(event: string, payload?: Json, options?: { keepMs?: number }, call?: CallOptions): Promise<SentEvent>;
  };
  /** What is used of limits, and which runs hold it; for a key of a tenant, of the tenant. */
  readonly limits: {
    /** Each limit with its first keys. With `after`, the `nextAfter` of a limit, only that one with its next keys. */
    list(query?: ListLimitsQuery, call?: CallOptions): Promise<LimitList>;
    /** The runs that hold a slot of a limit, or have reserved some of it, the longest first. */
    holders(name: string, query?: ListLimitHoldersQuery, call?: CallOptions): Promise<Page<LimitHolder>>;
  };
  readonly alarms: ClientAlarms;
  readonly cases: ClientCases;
  readonly feedback: ClientFeedback;
  /** For your backend: tokens for browsers. */
  readonly keys: { browserToken(token: NewBrowserToken, call?: CallOptions): Promise<BrowserToken> };
}

/**
 * A client of the HTTP API, for browsers, Node and other runtimes with `fetch`.
 *
 * Requests that start or change something carry a generated id, so that sending them again is safe. They are sent again
 * after a lost connection and after 429, 502, 503 and 504, up to `maxRetries` times. Answers have camelCase names; results, arguments, metadata and other JSON of
 * yours are passed on as they are. Times are ISO 8601.
 *
 * `AGENTS`: the type of your list of agents. The compiler then knows their names and results.
 *
 * @throws LanefoldClientError `invalid_input` if `url` is not a URL
 *
 * @example
 * ```ts
 * import { createLanefold, defineAgent } from 'lanefold';
 * import { createClient } from 'lanefold/client';
 *
 * const agents = [defineAgent({ name: 'support', model: 'scripted:echo' })];
 * const lanefold = await createLanefold({ agents });
 * await lanefold.startWorker();
 * const { url } = await lanefold.startServer({ port: 0 });
 *
 * // on another machine: createClient<typeof agents>({ url: 'https://agents.example.com', apiKey: 'lfk_…' })
 * const client = createClient<typeof agents>({ url });
 * const run = await client.runs.enqueue({ agent: 'support', input: 'Where is my order?' });
 * const { status, result } = await client.runs.wait(run);
 * console.log(status, result);
 * await lanefold.close();
 * ```
 */
export function createClient<AGENTS extends KnownAgents = KnownAgents>(options: ConnectionOptions): Client<AGENTS> {
  const connection = new Connection(options);
  return {
    runs: runsOf(connection) as ClientRuns<AGENTS>,
    threads: threadsOf(connection),
    contexts: contextsOf(connection),
    approvals: {
      list: (query = {}, { signal } = {}) => connection.call('listApprovals', { query, signal }),
    },
    waits: {
      list: (query = {}, { signal } = {}) => connection.call('listWaits', { query, signal }),
      resolve: ({ threadId, id }, call, given = {}, { signal } = {}) =>
        connection.call('resolveWait', { params: { threadId, runId: id, call }, body: given, signal }),
    },
    events: {
      send: (event, payload = null, options = {}, { signal } = {}) =>
        connection.call('sendEvent', { params: { event }, body: { payload, ...options }, signal, once: true }),
    },
    limits: {
      list: (query = {}, { signal } = {}) => connection.call('listLimits', { query, signal }),
      holders: (name, query = {}, { signal } = {}) =>
        connection.call('listLimitHolders', { params: { name }, query, signal }),
    },
    alarms: alarmsOf(connection),
    cases: casesOf(connection),
    feedback: feedbackOf(connection),
    keys: {
      browserToken: (token, { signal } = {}) => connection.call('createBrowserToken', { body: token, signal }),
    },
  };
}
