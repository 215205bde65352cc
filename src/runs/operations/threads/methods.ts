import type { RunMark } from '../../../database/store/trace/types.ts';
import type { RecordedThread, ThreadEntry } from '../../../database/store/log/types.ts';
import type { RunEvent } from '../../../database/store/trace/types.ts';
import type { StreamItem, StreamOptions } from '../../streams/stream.ts';
import type { AgUiSnapshot } from './ag-ui-snapshot.ts';
import type { WaitingBranch } from '../../../database/store/branch/waiting-branch.ts';
import type { BranchReceipt } from '../../../database/store/branch/types.ts';
import type { EnqueueContext } from '../runs/enqueue-request.ts';
import type { BranchOptions, PlaceOfRun } from './branch.ts';
import type { AgUiSnapshotOptions } from './types.ts';
import type { ThreadSource } from './import.ts';
import type { DeclaredThreads, EntriesOptions, EventsOptions, ImportOptions, ImportReceipt } from './types.ts';
import type { QuestionOfMessage, RunOfMessage } from './ui-messages.ts';

/** Operations on threads: those that are declared, and those whose form is only that of a library. */
export interface Threads extends DeclaredThreads {
  /** As `get`, without the cost, which has to be added up: one row. */
  peek(id: string): Promise<RecordedThread>;
  /**
   * What is worth a look in up to 100 runs of the thread: tools that failed, model calls that were repeated, contexts
   * that were cut, and the like, in the order of the log. docs/reference/page.md lists the kinds.
   *
   * @throws LanefoldError `thread_not_found`, `thread_erased`, `invalid_input`
   */
  marks(id: string, runIds: readonly string[]): Promise<RunMark[]>;
  /**
   * Branches the thread: makes a lane that begins with the context after an entry, and shows it. With `agent`, a run on the branch
   * is accepted in the same commit: with a `messageId` of `uiMessages`, the branch answers that question again, or has the new
   * `input` in its place. The other lane stays as it is, and its tools do not run again.
   *
   * @throws LanefoldError `thread_busy`, `open_tool_group`, `invalid_operation` for a lane that exists,
   * `invalid_input` for an entry that the thread does not have, `idempotency_mismatch`, `context_too_large`,
   * `thread_not_found`, `thread_erased`, and for its run the errors of `runs.enqueue`
   *
   * @example
   * const { run } = await lanefold.threads.branch('support-42', { messageId: 'msg-1', agent: 'support', input: 'In English?' });
   */
  branch<NAME extends string>(
    id: string,
    options: BranchOptions<NAME>,
    by?: Pick<EnqueueContext, 'caller' | 'from'>,
  ): Promise<BranchReceipt>;
  /** The log after the entry `after`, ordered by `seq`. */
  entries(id: string, options?: EntriesOptions): Promise<ThreadEntry[]>;
  /**
   * The run of a message of `uiMessages`: the one that answers a question on the branch that is shown, or that wrote an answer.
   * Undefined for a message of no run, and for one that the thread does not have. A question that the branch does not have keeps
   * the run that answers it elsewhere.
   *
   * @param contextRef another branch than the one that is shown
   */
  runOf(id: string, messageId: string, contextRef?: string): Promise<RunOfMessage | undefined>;
  /**
   * The branch that a page expects after an edit that waits for the active run: the one that is shown last among those that are
   * shown when their runs begin. Undefined if no branch waits.
   */
  waitingBranch(id: string): Promise<WaitingBranch | undefined>;
  /**
   * The question of a message of `uiMessages`, or undefined for a message that has none in the log: its entry and that of the
   * message before it (null: it is the first), and what it says. If the question was edited under the same id, this is the version
   * on the branch that is shown.
   */
  questionOf(id: string, messageId: string): Promise<QuestionOfMessage | undefined>;
  /**
   * Where a conversation continues after a run, named by its id or its request id: its lane, its last entry, and whether the
   * conversation of a lane ends with it. Undefined if the thread has no such run.
   *
   * @param contextRef the lane that is shown; default: the active one
   * @throws LanefoldError `thread_not_found`, `thread_erased`, `invalid_id`
   */
  placeOfRun(id: string, run: string, contextRef?: string): Promise<PlaceOfRun | undefined>;
  /**
   * The conversation of a lane as AG-UI's messages, with the state of the thread, as of one moment: the newest 1,000
   * turns, fewer if they have more than 2 MiB or 25,000 values of JSON. The calls of an unfinished round have the results that are known so far.
   *
   * @throws LanefoldError `thread_not_found`, `thread_erased`, `invalid_input`
   */
  agUiSnapshot(id: string, options?: AgUiSnapshotOptions): Promise<AgUiSnapshot>;
  /** The trace of all runs of the thread after the `eventSeq` `after`, in order and without gaps. */
  events(id: string, options?: EventsOptions): Promise<RunEvent[]>;
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
   * the thread comes from. Importing the same again under the same id changes nothing.
   *
   * @throws LanefoldError `import_refused` for an export that was changed, with the number of the line in `details`;
   * `thread_exists`, `thread_erased`, `idempotency_mismatch` if something else was imported under the id; `open_tool_group`,
   * `invalid_input`, `invalid_id`, `invalid_text`, `override_not_allowed`
   *
   * @example
   * const { id, notes } = await lanefold.threads.import({ format: 'ai-sdk', messages: [] });
   */
  import(source: ThreadSource, options?: ImportOptions): Promise<ImportReceipt>;
}
