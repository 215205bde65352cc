import { omitUndefined } from '../../base/common/json.ts';
import { newId, type Connection } from './connection.ts';
import { isClientError } from './errors.ts';
import { rejecting } from '../../base/common/promises.ts';
import { follow } from './follow.ts';
import type {
  AppendReceipt,
  Branch,
  BranchReceipt,
  Config,
  ConfigChange,
  ConfigReceipt,
  ContentRange,
  Entry,
  ErasureReport,
  JsonObject,
  ListEntriesQuery,
  ListThreadsQuery,
  ListUiMessagesQuery,
  Message,
  NewBranch,
  NewFork,
  NewThread,
  RunEvent,
  Thread,
  ThreadSummary,
  TreeMessage,
  UiMessage,
} from './operations.ts';
import type { StreamItem, StreamOptions } from './sse.ts';
import type { CallOptions, Page } from './types.ts';

/** An entry to append: a message, or an entry of your own kind, which no model sees. */
export type NewEntry =
  | { kind?: 'ai_message'; contextRef?: string; message: Message; refs?: JsonObject }
  /** The default kind is `note`, the default payload `{}`. */
  | { kind?: string; contextRef?: string; payload?: JsonObject; refs?: JsonObject; message?: never };

export interface AppendOptions {
  /** Append only if the thread is still at this rev; else `rev_conflict`. */
  expectedRev?: number;
  /** Adds flagged error results for calls without a result, instead of failing with `open_tool_group`. */
  repair?: boolean;
  /** A repeated append returns the receipt of the first one. Default: a new id. */
  opId?: string;
}

export interface ClientThreads {
  /**
   * Creates a thread. Without an `id`, the request may be sent again safely; with one, `thread_exists` may also mean
   * that an attempt whose answer was lost has created it.
   *
   * @throws LanefoldClientError `thread_exists`, `override_not_allowed`
   */
  create(options?: NewThread, call?: CallOptions): Promise<Thread>;
  /** @throws LanefoldClientError `thread_not_found`, `thread_erased` */
  get(id: string, call?: CallOptions): Promise<Thread>;
  /** Threads, newest first; with `order: 'asked'`, most recently asked first. */
  list(filter?: ListThreadsQuery, call?: CallOptions): Promise<Page<ThreadSummary>>;
  /** Creates a thread that begins as another one was after an entry. */
  fork(parentThreadId: string, options?: NewFork, call?: CallOptions): Promise<Thread>;
  /**
   * Branches the thread after an entry: an edited question is a branch after the entry before it with the new `input`, another
   * answer a branch after the question without `input`.
   *
   * @throws LanefoldClientError `thread_busy`, `open_tool_group`, `invalid_input`, `idempotency_mismatch`
   */
  branch(id: string, options: NewBranch, call?: CallOptions): Promise<BranchReceipt>;
  /** The lanes of the thread as a tree. */
  branches(id: string, call?: CallOptions): Promise<Branch[]>;
  /** A page of the messages of the thread as a tree, ordered by `seq`. */
  tree(id: string, query?: { after?: number; limit?: number }, call?: CallOptions): Promise<Page<TreeMessage, number>>;
  /** The configuration of a lane (default: the active one), now or as of an entry. */
  config(id: string, query?: { contextRef?: string; atSeq?: number }, call?: CallOptions): Promise<Config>;
  /** Changes prompt, tools, tool context or context policy from the next run on. */
  configure(id: string, changes: ConfigChange, call?: CallOptions): Promise<ConfigReceipt>;
  /** A page of the log, ordered by `seq`. */
  entries(id: string, query?: ListEntriesQuery, call?: CallOptions): Promise<Page<Entry, number>>;
  /** Appends all of these entries or none. */
  append(id: string, entries: readonly NewEntry[], options?: AppendOptions, call?: CallOptions): Promise<AppendReceipt>;
  /** A large text that a message shows only in part and names in `refs.contents`. */
  readContent(
    id: string,
    contentId: string,
    query?: { offset?: number; length?: number },
    call?: CallOptions,
  ): Promise<ContentRange>;
  /** The newest questions of a lane and their answers, as the AI SDK's messages; with `after`, the ones before. */
  uiMessages(id: string, query?: ListUiMessagesQuery, call?: CallOptions): Promise<Page<UiMessage>>;
  /** A page of the trace of all runs of the thread. */
  events(id: string, query?: { after?: number; limit?: number }, call?: CallOptions): Promise<Page<RunEvent, number>>;
  /** Like `runs.stream`, for all present and future runs. Ends when the thread is erased. */
  stream(id: string, options?: StreamOptions): AsyncGenerator<StreamItem, void, void>;
  /** Permanently deletes everything of the thread; its id cannot be used again. */
  erase(id: string, call?: CallOptions): Promise<ErasureReport>;
}

export function threadsOf(connection: Connection): ClientThreads {
  const at = (threadId: string) => ({ threadId });
  const threads: ClientThreads = {
    async create(options = {}, { signal } = {}) {
      const id = options.id ?? newId('thread');
      try {
        return await connection.call('createThread', { body: { ...options, id }, signal });
      } catch (error) {
        // only an attempt whose answer was lost can have used a new id
        if (options.id !== undefined || !isClientError(error, 'thread_exists')) throw error;
        return threads.get(id, { signal: signal! });
      }
    },
    get: (id, { signal } = {}) => connection.call('getThread', { params: at(id), signal }),
    list: (query = {}, { signal } = {}) => connection.call('listThreads', { query, signal }),
    async fork(parent, options = {}, { signal } = {}) {
      const id = options.id ?? newId('thread');
      try {
        return await connection.call('forkThread', { params: at(parent), body: { ...options, id }, signal });
      } catch (error) {
        // without an atSeq, an attempt whose answer was lost may have forked an earlier state of the parent
        if (options.id !== undefined || !isClientError(error, 'thread_exists')) throw error;
        return threads.get(id, { signal: signal! });
      }
    },
    branch: (id, options, { signal } = {}) =>
      connection.call('branchThread', { params: at(id), body: { opId: newId('branch'), ...options }, signal }),
    async branches(id, { signal } = {}) {
      return (await connection.call('listBranches', { params: at(id), signal })).data;
    },
    tree: (id, query = {}, { signal } = {}) => connection.call('listMessageTree', { params: at(id), query, signal }),
    config: (id, query = {}, { signal } = {}) => connection.call('getConfig', { params: at(id), query, signal }),
    configure: (id, changes, { signal } = {}) =>
      connection.call('changeConfig', { params: at(id), body: changes, signal, once: true }),
    entries: (id, query = {}, { signal } = {}) => connection.call('listEntries', { params: at(id), query, signal }),
    append: (id, entries, options = {}, { signal } = {}) =>
      connection.call('appendEntries', {
        params: at(id),
        signal,
        body: { opId: newId('op'), ...options, entries: entries.map(toWireEntry) as never },
      }),
    readContent: (threadId, contentId, query = {}, { signal } = {}) =>
      connection.call('readContent', { params: { threadId, contentId }, query, signal }),
    uiMessages: (id, query = {}, { signal } = {}) =>
      connection.call('listUiMessages', { params: at(id), query, signal }),
    events: (id, query = {}, { signal } = {}) => connection.call('listThreadEvents', { params: at(id), query, signal }),
    stream: (id, options = {}) => rejecting(follow(connection, 'listThreadEvents', at(id), options), options.signal),
    erase: (id, { signal } = {}) => connection.call('eraseThread', { params: at(id), signal, once: true }),
  };
  return threads;
}

/** Entries are data to the mapping of names, because most of each is. */
function toWireEntry({ kind, contextRef, message, refs, ...own }: NewEntry): object {
  return omitUndefined({
    kind: message ? 'ai_message' : kind,
    context_ref: contextRef,
    refs,
    payload: message,
    ...own,
  });
}
