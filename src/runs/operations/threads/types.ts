// Generated from declaration.ts beside it: run `npm run types:api`.

import type { JsonObject } from '../../../agent/context/message.ts';
import type { PolicyOption } from '../../../agent/policy/types.ts';
import type { ThreadEntry } from '../../../database/store/log/types.ts';
import type { OverrideCaller } from '../../../agent/definition/overridable.ts';
import type { ImportNote } from '../../formats/portable/line.ts';
import type { StoredPolicy } from '../../../agent/policy/policy.ts';
import type { RunStatus } from '../../../database/store/run/types.ts';
import type { RunMarkCount } from '../../../database/store/trace/types.ts';
import type { MarkKind } from '../../../database/store/trace/types.ts';
import type { ConfigReceipt } from '../../../database/store/context/types.ts';
import type { ForkReceipt } from '../../../database/store/log/types.ts';
import type { Branch } from '../../../database/store/branch/types.ts';
import type { TreeMessage } from '../../../database/store/branch/types.ts';
import type { NewEntry } from './append.ts';
import type { AppendReceipt } from '../../../database/store/log/types.ts';
import type { ContentRange } from '../../../database/store/log/types.ts';
import type { UiMessage } from '../../formats/ui-messages/message.ts';

export interface AgUiSnapshotOptions {
  /** Default: the active lane. */
  contextRef?: string;
  /** Only entries before this `seq`. Default: all entries, and also questions that no worker has taken yet. */
  before?: number;
}

export interface ConfigChanges {
  /** null: no system prompt. */
  systemPrompt?: string | null;
  /** Replaces the tool context of the thread. */
  toolContext?: JsonObject;
  /** null: back to the policy of the agent. */
  contextPolicy?: PolicyOption | null;
  /** Names of tools given to `createLanefold({ tools })`, or of tools unregistered before. */
  registerTools?: string[];
  unregisterTools?: string[];
  /** The lane; default: the whole thread. */
  contextRef?: string;
}

export interface EntriesOptions {
  /** Default: from the first entry. */
  after?: number;
  kind?: string;
  contextRef?: string;
  /** Maximum number of entries; default 100. */
  limit?: number;
}

export interface EntryPage {
  data: ThreadEntry[];
  /** Pass it as `after` to get the next page; null on the last page. */
  nextAfter: number | null;
}

/** What the erasure of a thread removed. */
export interface ErasureReport {
  threadId: string;
  tenantId: string;
  /** How many of each were removed. */
  removed: RemovedRows;
  /**
   * Threads of the agents that its runs called, and of those that these called. They keep the text of their tasks,
   * with `context: 'fork'` also a copy of the context of the caller. Erase each of them too, unless someone has
   * continued it as a conversation of its own.
   */
  childThreads: string[];
  /** What was not removed, such as backups and data that model providers keep. */
  left: string[];
}

export interface EventsOptions {
  /** Default: from the first event. */
  after?: number;
  /** Maximum number of events; default 100. */
  limit?: number;
}

export interface ForkOptions {
  /** Default: a generated id. Repeating a request with the same id returns the same fork. */
  id?: string;
  /** The last entry that the fork includes; -1: none. Default: the last of the thread. */
  atSeq?: number;
  /** Only this lane; default: all lanes, except lanes on which strategies asked their own questions. */
  contextRef?: string;
  /** Your own data, up to 64 KiB; the parent’s is not copied. */
  metadata?: JsonObject;
  /** Replaces the prompts of all lanes. Every agent must list `systemPrompt` as overridable. */
  systemPrompt?: string | null;
  /** Give tool calls without a result a flagged error result, instead of failing. */
  repair?: boolean;
}

export interface ImportOptions {
  /** Default: the id in the export or of the LangGraph thread, otherwise a new one. */
  id?: string;
  /** Default: the metadata in the export, otherwise none. */
  metadata?: JsonObject;
  /**
   * Where the request comes from. With `http`, the agent must list every field that the request overrides. Default
   * `library`.
   */
  from?: OverrideCaller;
}

/** An imported thread, and what could not be carried over unchanged. */
export interface ImportReceipt {
  id: string;
  /** Number of entries; the last one is of the kind `thread_import`. */
  rev: number;
  /** The same was imported before; nothing was written. */
  duplicate: boolean;
  /** What could not be carried over unchanged. */
  notes: ImportNote[];
}

export interface NewThread {
  /** Default: a generated id. */
  id?: string;
  tenantId?: string;
  /** Allowed only if every agent of the server lists `systemPrompt` as overridable. */
  systemPrompt?: string | null;
  /** Your own data, up to 64 KiB, stored with the thread. */
  metadata?: JsonObject;
}

/** How many of each were removed. */
export interface RemovedRows {
  /** Threads. */
  threads: number;
  /** Entries of their logs. */
  entries: number;
  /** Events of their traces. */
  events: number;
  /** Runs. */
  runs: number;
  /** Tool calls. */
  toolCalls: number;
  /** Inputs sent to runs. */
  inputs: number;
  /** Context operations. */
  operations: number;
  /** Large texts. */
  contents: number;
  /** Jobs in the queue. */
  jobs: number;
}

/** What the erasure of a tenant removed. */
export interface TenantErasureReport {
  tenantId: string;
  /** How many of each were removed. */
  removed: RemovedRows;
  /** Threads that were kept because a run is active on them. Cancel the run first. */
  busy: string[];
  /** The tenant has more threads: repeat the request. */
  more: boolean;
  /** What was not removed, such as backups and data that model providers keep. */
  left: string[];
}

/** A thread; `cost` covers its newest 1,000 runs. */
export interface Thread {
  id: string;
  tenantId: string;
  /** Number of entries. */
  rev: number;
  /** Number of events. To stream only new events, start after `eventRev` - 1. */
  eventRev: number;
  activeContextRef: string;
  /** The run that is queued, running or suspended. */
  activeRunId: string | null;
  /** Your own data. */
  metadata: JsonObject;
  /** State written by tools. */
  state: JsonObject;
  /** The thread it was forked from. */
  parentThreadId: string | null;
  /** The last entry of the parent that the fork includes. */
  forkSeq: number | null;
  /** When the thread was created. */
  createdAt: Date;
  /** When the thread was last written to. */
  updatedAt: Date;
  /** In US dollars; null if no tokens went to a model whose price is known. */
  cost: number | null;
  /** Tokens of models without a known price; `cost` does not include them. */
  unpricedTokens: number;
}

/** Prompt and tool settings of a thread, which override those of its agents. */
export interface ThreadConfig {
  systemPrompt: string | null;
  /** The tools that the thread adds to the tools of the agent that runs on it, and those that it removes. */
  tools: {
    added: string[];
    removed: string[];
  };
  /** Merged over the tool context of the agent. */
  toolContext: JsonObject;
  /** The context policy, with its defaults filled in; null: the agent’s policy applies. */
  contextPolicy: StoredPolicy | null;
}

/** A thread as lists show it. */
export interface ThreadSummary {
  id: string;
  tenantId: string;
  /** Number of entries. */
  rev: number;
  activeRunId: string | null;
  /** Your own data. */
  metadata: JsonObject;
  parentThreadId: string | null;
  /** When the thread was created. */
  createdAt: Date;
  /** When the thread was last written to. */
  updatedAt: Date;
  /** Status of the active run, or else of the latest; null: no runs. */
  status: RunStatus | null;
  /** How many threads the tool calls of its runs have created. */
  children: number;
  /** Number of runs, up to 1,000. */
  runs: number;
  /** Total tokens of these runs. */
  totalTokens: number;
  /** In US dollars; null if no tokens went to a model whose price is known. */
  cost: number | null;
  /** Tokens of models without a known price; `cost` does not include them. */
  unpricedTokens: number;
  /** The active run, or else the latest. */
  lastRun: {
    id: string;
    agent: string;
    model: string;
    status: RunStatus;
    errorType: string | null;
    /** Whether the run ended with an answer; null until it ends. */
    answered: boolean | null;
    /** Why the run ended; null until then. */
    terminationReason: string | null;
    /** When the run was accepted. */
    at: Date;
    /** No worker starts the run before this time. */
    startAt: Date | null;
  } | null;
  /** The first 200 characters of the message that started the latest run. */
  lastMessage: string | null;
  /** Marks of its runs, counted by kind. A run that waits has its mark only in its thread. */
  marks: RunMarkCount[];
}

export interface DeclaredThreads {
  /**
   * Create a thread.
   *
   * @throws LanefoldError `thread_exists`, `thread_erased`, `invalid_id`, `invalid_text`, `override_not_allowed`,
   * `invalid_input`
   */
  create(options?: {
    /** Default: a generated id. */
    id?: string;
    tenantId?: string;
    /** Allowed only if every agent of the server lists `systemPrompt` as overridable. */
    systemPrompt?: string | null;
    /** Your own data, up to 64 KiB, stored with the thread. */
    metadata?: JsonObject;
    /**
     * Where the request comes from. With `http`, the agent must list every field that the request overrides. Default
     * `library`.
     */
    from?: OverrideCaller;
  }): Promise<{
    id: string;
    rev: number;
  }>;
  /** List threads, newest first, by creation or by latest question. */
  list(options?: {
    /** Threads of this tenant. */
    tenantId?: string;
    /** Threads whose metadata contains this JSON object. */
    metadata?: JsonObject;
    /** Threads in which users wrote these words, as in a web search: `refund -paid "order 42"`. */
    text?: string;
    /** Threads whose latest run has this agent. */
    agent?: string;
    /** Threads whose latest run was taken by this version of its agent. */
    version?: string;
    /** Threads whose latest run has this status. */
    status?: RunStatus;
    /** Threads that have a run with this mark. */
    mark?: MarkKind;
    /**
     * Threads that have a run that waits for the decision of a person, an event, a time, another agent, a limit, a
     * worker that can take it, the run before it, or its start.
     */
    waitingFor?: 'approval' | 'event' | 'time' | 'agent' | 'limit' | 'worker' | 'run' | 'start_at';
    /** False: only threads that no tool call has created. */
    children?: boolean;
    /** Only threads that the tool calls of this thread have created. */
    startedBy?: string;
    /** Threads created at this time or later. */
    createdAfter?: Date;
    /** Threads created before this time. */
    createdBefore?: Date;
    /**
     * `created` (default): by creation. `asked`: by when the newest run was accepted; threads without runs by
     * creation. For a tenant, `asked` lists the newest 5,000 threads; on a database distributed by Citus, it orders
     * by creation.
     */
    order?: 'created' | 'asked';
    /** The `nextAfter` of the previous page. */
    after?: string;
    /** Maximum number of items; default 50. */
    limit?: number;
  }): Promise<{
    data: ThreadSummary[];
    /**
     * Pass it as `after` to get the next page; null on the last page. A page of a filtered list may be short or empty
     * even if more follow.
     */
    nextAfter: string | null;
  }>;
  /**
   * Read a thread.
   *
   * @throws LanefoldError `thread_not_found`, `thread_erased`
   */
  get(threadId: string): Promise<Thread>;
  /**
   * Permanently deletes everything of the thread, in the database and the queue; its id cannot be reused. The
   * report says what was removed, and what is left elsewhere. Threads of agents that its runs called stay:
   * `childThreads` lists them. While a run is active, it throws `thread_busy`: cancel the run first.
   *
   * @throws LanefoldError `thread_not_found`, `thread_erased`, `thread_busy`
   */
  erase(threadId: string): Promise<ErasureReport>;
  /**
   * Erases the schedules, evals, cases, monitors, alarms, kept events, webhooks and streams of a tenant, and its
   * threads, `limit` at a time: repeat while the report says `more`. `left` lists what stays, such as API keys and
   * limits.
   */
  eraseTenant(
    tenantId: string,
    options?: {
      /** Maximum number of threads; default 1,000. */
      limit?: number;
    },
  ): Promise<TenantErasureReport>;
  /**
   * The configuration of a lane (default: the active one), now or as of an entry.
   *
   * @throws LanefoldError `thread_not_found`, `thread_erased`
   */
  config(
    threadId: string,
    options?: {
      contextRef?: string;
      /** As of this entry, inclusive; a number past the last entry means the last entry. */
      atSeq?: number;
    },
  ): Promise<ThreadConfig>;
  /**
   * Changes prompt, tools, tool context or context policy, effective with the next run; `deferred` while a run is
   * active. With `from`, every agent of this process must list what changes.
   *
   * @throws LanefoldError `thread_not_found`, `thread_erased`, `override_not_allowed`, `unknown_tool`,
   * `invalid_policy`, `invalid_input`
   */
  configure(
    threadId: string,
    changes: ConfigChanges,
    options?: {
      /**
       * Where the request comes from. With `http`, the agent must list every field that the request overrides. Default
       * `library`.
       */
      from?: OverrideCaller;
      /** Who makes the change, for the `refs` of the entry. */
      by?: string;
    },
  ): Promise<ConfigReceipt>;
  /**
   * Creates a thread that begins as another one was after an entry: with its configuration, its state, and one
   * anchor per lane. It copies the contexts, not the log. Later changes to one of the two do not affect the other.
   *
   * @example
   * const { id } = await lanefold.threads.fork('support-42', { atSeq: 17, metadata: { tries: 'a shorter prompt' }
   * });
   *
   * @throws LanefoldError `thread_not_found`, `thread_erased`, `thread_exists`, `context_too_large`,
   * `open_tool_group`, `idempotency_mismatch`, `invalid_input`, `invalid_id`, `override_not_allowed`
   */
  fork(
    threadId: string,
    options?: {
      /** Default: a generated id. Repeating a request with the same id returns the same fork. */
      id?: string;
      /** The last entry that the fork includes; -1: none. Default: the last of the thread. */
      atSeq?: number;
      /** Only this lane; default: all lanes, except lanes on which strategies asked their own questions. */
      contextRef?: string;
      /** Your own data, up to 64 KiB; the parent’s is not copied. */
      metadata?: JsonObject;
      /** Replaces the prompts of all lanes. Every agent must list `systemPrompt` as overridable. */
      systemPrompt?: string | null;
      /** Give tool calls without a result a flagged error result, instead of failing. */
      repair?: boolean;
      /**
       * Where the request comes from. With `http`, the agent must list every field that the request overrides. Default
       * `library`.
       */
      from?: OverrideCaller;
    },
  ): Promise<ForkReceipt>;
  /**
   * List the lanes of a thread as a tree.
   *
   * @throws LanefoldError `thread_not_found`, `thread_erased`
   */
  branches(threadId: string): Promise<Branch[]>;
  /**
   * List the messages of a thread as a tree, across its branches. Pass `nextAfter` as `after` for the next page.
   *
   * @throws LanefoldError `thread_not_found`, `thread_erased`
   */
  tree(
    threadId: string,
    options?: {
      /** Return messages after this seq. */
      after?: number;
      /** Maximum number of items; default 1000. */
      limit?: number;
    },
  ): Promise<{
    data: TreeMessage[];
    /** Pass it as `after` to get the next page; null on the last page. */
    nextAfter: number | null;
  }>;
  /**
   * Append messages or entries of your own kinds. Appends all entries or none. Messages must form whole groups:
   * each tool call is followed by its result, in call order.
   *
   * @throws LanefoldError `thread_not_found`, `thread_erased`, `reserved_kind`, `rev_conflict`, `lane_busy`,
   * `context_too_large`, `open_tool_group`, `idempotency_mismatch`, `invalid_input`, `invalid_id`, `invalid_text`,
   * `empty_content`
   */
  append(
    threadId: string,
    entries: NewEntry[],
    options?: {
      /** Append only if the thread is at this `rev`; otherwise fail with `rev_conflict`. */
      expectedRev?: number;
      /** Add flagged error results for tool calls that have no result. */
      repair?: boolean;
      /** A second request with this id returns the first receipt. You can send the id as `Idempotency-Key` instead. */
      opId?: string;
    },
  ): Promise<AppendReceipt>;
  /**
   * A page of entries, which ends after `limit` entries or `maxBytes` of payloads and refs. Pass `nextAfter` as
   * `after` for the next page; null at the end.
   *
   * @throws LanefoldError `thread_not_found`, `thread_erased`
   */
  entryPage(
    threadId: string,
    options?: {
      /** Return entries after this seq: the `nextAfter` of the previous page. */
      after?: number;
      kind?: string;
      contextRef?: string;
      /** Maximum number of items; default 100. */
      limit?: number;
      /** Default 4 MiB; one entry may be larger. */
      maxBytes?: number;
    },
  ): Promise<EntryPage>;
  /**
   * Reads a large text that a message of the thread shows only in part and names in `refs.contents`. Counts
   * characters as code points; `nextOffset` says where to continue, null at the end.
   *
   * @throws LanefoldError `thread_not_found`, `thread_erased`, `content_not_found`
   */
  readContent(
    threadId: string,
    contentId: string,
    options?: {
      /** Where to begin, in characters. Default 0. */
      offset?: number;
      /** How many characters; default: all to the end. */
      length?: number;
    },
  ): Promise<ContentRange>;
  /**
   * The conversation of a lane as the AI SDK's `UIMessage`s, in chronological order: the newest `limit` questions
   * with their answers, and with `after: nextAfter` the ones before. Questions that wait for a worker are included;
   * an unfinished answer contains what has been committed so far. Messages that a replace or a compaction removed
   * from the context are included.
   *
   * @throws LanefoldError `thread_not_found`, `thread_erased`
   */
  uiMessages(
    threadId: string,
    options?: {
      /** The `nextAfter` of the previous page. */
      after?: string;
      contextRef?: string;
      /** Maximum number of items; default 50. */
      limit?: number;
    },
  ): Promise<{
    data: UiMessage[];
    /**
     * Pass it as `after` to get the next page; null on the last page. A page of a filtered list may be short or empty
     * even if more follow.
     */
    nextAfter: string | null;
  }>;
}
