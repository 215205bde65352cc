import type { RunMark, RunEvent, RunCost } from '../../../database/store/run/types.ts';
import type { OverrideCaller } from '../../../agent/definition/overridable.ts';
import type { JsonObject } from '../../../agent/context/message.ts';
import type { MessageInput } from '../../../agent/models/accept-content.ts';
import type { ContentRange } from '../../../database/store/content/read-content.ts';
import type { AppendReceipt } from '../../../database/store/log/append-entries.ts';
import type { ForkReceipt } from '../../../database/store/fork/fork-thread.ts';
import type { ThreadEntry } from '../../../database/store/log/read-entries.ts';
import type { ThreadFilter, RecordedSummary } from '../../../database/store/log/list-threads.ts';
import type { Thread as RecordedThread } from '../../../database/store/log/read-thread.ts';
import type { ListPage } from '../../../database/store/page.ts';
import type { StreamItem, StreamOptions } from '../../streams/stream-item.ts';
import type { UiMessage } from '../../formats/ui-messages/message.ts';
import type { ConfigChanges, ThreadConfig } from './config.ts';
import type { ForkOptions } from './fork.ts';
import type { ErasureReport, TenantErasureReport } from './erasure-report.ts';
import type { ReadContentOptions } from './content.ts';
import type { ImportOptions, ImportReceipt, ThreadSource } from './import.ts';
import type { AgUiSnapshot, AgUiSnapshotOptions } from './ag-ui-snapshot.ts';
import type { RunOfMessage, UiMessagesOptions } from './ui-messages.ts';
import type { ConfigReceipt } from '../../../database/store/context/read-config.ts';

/** A thread; `cost` covers its newest 1,000 runs. */
export interface Thread extends RecordedThread, RunCost {}

/** A thread as lists show it. */
export interface ThreadSummary extends Omit<RecordedSummary, 'spent'>, RunCost {}

/** An entry to append: a message, or an entry of your own kind. */
export type NewEntry =
  | {
      kind?: 'ai_message';
      contextRef?: string;
      message: MessageInput;
      refs?: JsonObject;
    }
  /** The default kind is `note`, the default payload `{}`. */
  | { kind?: string; contextRef?: string; payload?: JsonObject; refs?: JsonObject; message?: never };

/** Default size of a page of entries, such as HTTP callers get; one entry may be larger. */
export interface AppendOptions {
  /** Append only if the thread is still at this rev; else `rev_conflict`. */
  expectedRev?: number;
  /** A repeated append returns the receipt of the first one. */
  idempotencyKey?: string;
  /** Adds flagged error results for calls without a result, instead of throwing `open_tool_group`. */
  repair?: boolean;
}

export interface Threads {
  /**
   * Creates a thread. `from`: where the request comes from, see `runs.enqueue`.
   *
   * @throws LanefoldError `thread_exists` if a thread of any tenant has the id, `invalid_id`, `invalid_text`,
   * `override_not_allowed`, `invalid_input` for a `tenantId` that is not the tenant of this library
   */
  create(
    options?: { id?: string; tenantId?: string; systemPrompt?: string | null; metadata?: JsonObject },
    on?: { from?: OverrideCaller },
  ): Promise<{ id: string; rev: number }>;
  /**
   * Creates a thread that begins as another one was after an entry: with its configuration, its state, and one anchor
   * per lane. It copies the contexts, not the log. Later changes to one of the two do not affect the other.
   *
   * @throws LanefoldError `thread_not_found`, `thread_erased`, `invalid_input` beyond the last entry,
   * `open_tool_group`, `context_too_large`, `thread_exists`, `idempotency_mismatch` if the id names a fork of the same
   * entry with other options, `invalid_id`, `override_not_allowed`
   *
   * @example
   * const { id } = await lanefold.threads.fork('support-42', { seq: 17, metadata: { tries: 'a shorter prompt' } });
   */
  fork(parentThreadId: string, options?: ForkOptions, on?: { from?: OverrideCaller }): Promise<ForkReceipt>;
  /** @throws LanefoldError `thread_not_found`, `thread_erased` */
  get(id: string): Promise<Thread>;
  /** As `get`, without the cost, which has to be added up: one row. */
  peek(id: string): Promise<Omit<Thread, keyof RunCost>>;
  /** Threads, newest first; with `order: 'asked'`, most recently asked first. */
  list(filter?: Partial<ThreadFilter>): Promise<ListPage<ThreadSummary>>;
  /**
   * What is worth a look in up to 100 runs of the thread: tools that failed, model calls that were repeated, contexts
   * that were cut, and the like, in the order of the log. docs/page.md lists the kinds.
   *
   * @throws LanefoldError `thread_not_found`, `thread_erased`, `invalid_input`
   */
  marks(id: string, runIds: readonly string[]): Promise<RunMark[]>;
  /**
   * Appends all entries or none.
   *
   * @throws LanefoldError `reserved_kind` for a kind of Lanefold, or a kind or key of a history that a framework keeps in
   * the log; `rev_conflict`, `lane_busy`, `open_tool_group`, `idempotency_mismatch`, `context_too_large`,
   * `invalid_input`, `invalid_id`, `invalid_text`, `empty_content`, `thread_not_found`, `thread_erased`
   */
  append(id: string, entries: NewEntry[], options?: AppendOptions): Promise<AppendReceipt>;
  /** The log after the entry `after`, ordered by `seq`. */
  entries(
    id: string,
    options?: { after?: number; kind?: string; contextRef?: string; limit?: number },
  ): Promise<ThreadEntry[]>;
  /**
   * A page of entries, which ends after `limit` entries or `maxBytes` of payloads and refs (default 4 MiB). Pass
   * `nextAfter` as `after` for the next page; null at the end.
   */
  entryPage(
    id: string,
    options?: { after?: number; kind?: string; contextRef?: string; limit?: number; maxBytes?: number },
  ): Promise<{ entries: ThreadEntry[]; nextAfter: number | null }>;
  /**
   * Reads a large text that a message of the thread shows only in part and names in `refs.contents`. Counts characters
   * as code points; `nextOffset` says where to continue, null at the end.
   *
   * @throws LanefoldError `content_not_found`, `thread_not_found`, `thread_erased`, `invalid_input`
   */
  readContent(id: string, contentId: string, range?: ReadContentOptions): Promise<ContentRange>;
  /**
   * The conversation of a lane as the AI SDK's `UIMessage`s, in chronological order: the newest `limit` questions with
   * their answers, and with `after: nextAfter` the ones before. Questions that wait for a worker are included; an
   * unfinished answer contains what has been committed so far. Messages that a replace or a compaction removed from the
   * context are included.
   *
   * @throws LanefoldError `thread_not_found`, `thread_erased`, `invalid_input`
   */
  uiMessages(id: string, options?: UiMessagesOptions): Promise<ListPage<UiMessage>>;
  /**
   * The run of a message of `uiMessages`: the one that answers a question, or that wrote an answer. Undefined for a message
   * of no run, and for one that the thread does not have.
   */
  runOf(id: string, messageId: string): Promise<RunOfMessage | undefined>;
  /**
   * The conversation of a lane as AG-UI's messages, with the state of the thread, as of one moment: the newest 1,000
   * turns, fewer if they have more than 2 MiB or 25,000 values of JSON. The calls of an unfinished round have the results that are known so far.
   *
   * @throws LanefoldError `thread_not_found`, `thread_erased`, `invalid_input`
   */
  agUiSnapshot(id: string, options?: AgUiSnapshotOptions): Promise<AgUiSnapshot>;
  /** The configuration of a lane (default: the active one), now or as of an entry. */
  config(id: string, options?: { contextRef?: string; atSeq?: number }): Promise<ThreadConfig>;
  /**
   * Changes prompt, tools, tool context or context policy, effective with the next run; `deferred` while a run is
   * active. `from`: where the request comes from, see `runs.enqueue`; every agent of this process must list what
   * changes. `by`: who changes it, for the refs of the entry.
   *
   * @throws LanefoldError `override_not_allowed`, `unknown_tool`, `invalid_policy`, `invalid_input`, `thread_not_found`
   */
  configure(id: string, changes: ConfigChanges, on?: { from?: OverrideCaller; by?: string }): Promise<ConfigReceipt>;
  /** The trace of all runs of the thread after the `eventSeq` `after`, in order and without gaps. */
  events(id: string, options?: { after?: number; limit?: number }): Promise<RunEvent[]>;
  /**
   * Like `runs.stream`, for all present and future runs of the thread. Ends with `signal`, or when the thread is
   * erased.
   */
  stream(id: string, options?: StreamOptions): AsyncIterable<StreamItem>;
  /**
   * The thread as JSON Lines: its entries as they are stored, the large texts they quote, and its finished runs, each line
   * with a hash over everything before it. Read with ordinary queries, so that a slow reader holds no connection; entries
   * appended meanwhile are not included.
   *
   * @throws LanefoldError `thread_not_found`, `thread_erased`, `content_not_found`, `history_unreadable`
   *
   * @example
   * for await (const line of lanefold.threads.export('support-42')) process.stdout.write(`${line}\n`);
   */
  export(id: string): AsyncGenerator<string, void, void>;
  /**
   * Creates a thread from an export, or from the history of another framework, in one transaction: it appears when it is
   * complete. The contexts of an exported thread are the same at every entry. The last entry, `thread_import`, says where
   * the thread comes from. Importing the same again under the same id changes nothing. `from`: see `runs.enqueue`.
   *
   * @throws LanefoldError `import_refused` for an export that was changed, with the number of the line in `details`;
   * `thread_exists`, `thread_erased`, `idempotency_mismatch` if something else was imported under the id; `open_tool_group`,
   * `invalid_input`, `invalid_id`, `invalid_text`, `override_not_allowed`
   *
   * @example
   * const { id, notes } = await lanefold.threads.import({ format: 'ai-sdk', messages: [] });
   */
  import(source: ThreadSource, options?: ImportOptions, on?: { from?: OverrideCaller }): Promise<ImportReceipt>;
  /**
   * Permanently deletes everything of the thread, in the database and the queue; its id cannot be reused. The report
   * says what was removed, and what is left elsewhere. Threads of agents that its runs called stay: `childThreads` lists
   * them.
   *
   * @throws LanefoldError `thread_busy` while a run is active: cancel it first; `thread_not_found`, `thread_erased`
   */
  erase(id: string): Promise<ErasureReport>;
  /**
   * Erases the schedules, evals, cases, monitors, kept events, webhooks and streams of a tenant, and its threads, `limit`
   * (default 1,000) at a time: repeat while the report says `more`. `left` lists what stays, such as API keys and limits.
   */
  eraseTenant(tenantId: string, options?: { limit?: number }): Promise<TenantErasureReport>;
}
