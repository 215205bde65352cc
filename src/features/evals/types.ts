// Generated from declaration.ts beside it: run `npm run types:api`.

import type { JsonObject } from '../../agent/context/message.ts';
import type { RunStatus } from '../../database/store/run/types.ts';
import type { MarkKind } from '../../database/store/trace/types.ts';
import type { BulkReceipt } from '../../runs/operations/runs/types.ts';

/** Changes of a case; null removes a value. */
export interface CaseChanges {
  /** What the answer to a case should have been. Each field is scored by a scorer of its kind. */
  expected?: Expected | null;
  tags?: string[];
  /** A part of the dataset, such as `train` or `test`. */
  split?: string | null;
  note?: string | null;
}

/** A dataset: the name that cases share. */
export interface Dataset {
  tenant: string;
  dataset: string;
  /** How many cases it has. */
  cases: number;
  /** How many of these cases have an erased thread. */
  erased: number;
  /** When a case last changed. */
  updatedAt: Date;
}

/** A case: a past run or model call, by reference, with what should have been answered. */
export interface EvalCase {
  id: string;
  tenant: string;
  threadId: string;
  /** The name that its cases share. */
  dataset: string;
  /**
   * `run`: the question of the run is asked again. `call`: the model is asked once more for the answer of the call,
   * with the same context.
   */
  kind: 'run' | 'call';
  /** Null for an imported case. */
  runId: string | null;
  /** The model call; for a run, its first model call. Null for an imported case. */
  llmCallId: string | null;
  contextRef: string;
  /** The last entry of the context before the question or the answer; -1: none. */
  seq: number;
  /** SHA-256 of the messages of the call. */
  contextHash: string;
  /**
   * The first 200 characters of the message that began its run, read from the log; of an imported case, of the last
   * message of the user. Null if there is none, and once the thread is erased.
   */
  question: string | null;
  agent: string;
  model: string;
  tags: string[];
  /** A part of the dataset, such as `train` or `test`. */
  split: string | null;
  /** What the answer to a case should have been. Each field is scored by a scorer of its kind. */
  expected: Expected | null;
  note: string | null;
  /** `operator`, `key:<id>` or `cli:<user>`. */
  keptBy: string;
  /** When it was kept. */
  createdAt: Date;
  /** When it was last changed. */
  updatedAt: Date;
  /** When the thread was erased. The erasure also removed `expected` and `note`. */
  erasedAt: Date | null;
}

/** What the answer to a case should have been. Each field is scored by a scorer of its kind. */
export interface Expected {
  /** The whole answer; white space does not count. */
  answer?: string;
  /** Phrases that the answer has to contain. */
  contains?: string[];
  /** A tool that the answer has to call. */
  tool?: {
    name: string;
    /** A part of its arguments. */
    arguments?: JsonObject;
  };
  /** What a judge looks at. */
  rubric?: string;
  /** The name of the only scorer that applies; default: every scorer that can score the case. */
  scorer?: string;
}

/** A case to keep: a run, or one of its model calls. */
export interface NewCase {
  threadId: string;
  /** The name that its cases share. */
  dataset: string;
  /** The run whose question is asked again. Either this or `llmCallId`. */
  runId?: string;
  /** The model call that is made again. */
  llmCallId?: string;
  /** What the answer to a case should have been. Each field is scored by a scorer of its kind. */
  expected?: Expected;
  tags?: string[];
  /** A part of the dataset, such as `train` or `test`. */
  split?: string;
  note?: string;
}

export interface Cases {
  /**
   * Keeps a run that has ended, or a model call, as a case of a dataset. The case refers to the log and copies
   * nothing of it. A call that the log does not prove, because a request transformer changed it, say, is refused.
   *
   * @throws LanefoldError `case_unverified`, `case_exists`, `invalid_input`, `thread_not_found`, `thread_erased`,
   * `run_not_found`, `call_not_found`, `invalid_id`
   */
  keep(
    given: NewCase,
    options?: {
      /** Who makes the change, for the case and the audit; default `operator`. */
      by?: string;
    },
  ): Promise<EvalCase>;
  /**
   * Keep the ended runs that a filter selects as cases. Runs that have not ended are left out; a run that the
   * dataset has already stays as it is. Each run has an outcome: one that is refused stops no other.
   *
   * @throws LanefoldError `invalid_input`, `invalid_id`
   */
  keepMany(
    filter: {
      status?: RunStatus;
      /** Runs of this agent. */
      agent?: string;
      /** Runs that this version of their agent took: `agentVersion`. */
      version?: string;
      /** A run with this mark. */
      mark?: MarkKind;
      /**
       * A run that waits for the decision of a person, an event, a time, another agent, a limit, a worker that can take
       * it, the run before it, or its start.
       */
      waitingFor?: 'approval' | 'event' | 'time' | 'agent' | 'limit' | 'worker' | 'run' | 'start_at';
      /** Runs of threads of this tenant. */
      tenantId?: string;
      /** Runs of threads whose metadata contains this JSON object. */
      metadata?: JsonObject;
      /** Runs of threads in which users wrote these words, as in a web search: `refund -paid "order 42"`. */
      text?: string;
      /** False: runs that ended without an answer. */
      answered?: boolean;
      /** False: only runs that no tool call has started. */
      children?: boolean;
      /** Runs with this model. */
      model?: string;
      /** Failed runs with this error type. */
      errorType?: string;
      /** Runs that spent at least this many tokens. */
      minTokens?: number;
      /** Runs accepted at this time or later. */
      createdAfter?: Date;
      /** Runs accepted before this time. */
      createdBefore?: Date;
    },
    dataset: string,
    options?: {
      /** A preview: counts the runs, shows the first few, and changes nothing. */
      dryRun?: boolean;
      /** Maximum number of runs to act on; default 100. */
      limit?: number;
      /** The `nextAfter` of the previous page. */
      after?: string;
      tags?: string[];
      /** A part of the dataset, such as `train` or `test`. */
      split?: string;
      note?: string;
      /** Who makes the change, for the case and the audit; default `operator`. */
      by?: string;
    },
  ): Promise<BulkReceipt>;
  /** List cases, the oldest first. */
  list(options?: {
    dataset?: string;
    /** Only cases with this tag. */
    tag?: string;
    /** Only cases of this part. */
    split?: string;
    /** Only cases of this thread. */
    threadId?: string;
    /** The `nextAfter` of the previous page. */
    after?: string;
    /** Maximum number of items; default 50. */
    limit?: number;
  }): Promise<{
    data: EvalCase[];
    /**
     * Pass it as `after` to get the next page; null on the last page. A page of a filtered list may be short or empty
     * even if more follow.
     */
    nextAfter: string | null;
  }>;
  /**
   * Get a case.
   *
   * @throws LanefoldError `case_not_found`
   */
  get(caseId: string): Promise<EvalCase>;
  /**
   * Change what a case expects, and its labels. Fields that are left out stay as they are; null removes a value.
   *
   * @throws LanefoldError `case_not_found`, `case_erased`, `invalid_input`
   */
  update(
    caseId: string,
    changes: CaseChanges,
    options?: {
      /** Who makes the change, for the case and the audit; default `operator`. */
      by?: string;
    },
  ): Promise<EvalCase>;
  /**
   * Remove a case. Its thread stays.
   *
   * @throws LanefoldError `case_not_found`
   */
  remove(
    caseId: string,
    options?: {
      /** Who makes the change, for the case and the audit; default `operator`. */
      by?: string;
    },
  ): Promise<void>;
  /** List the datasets. */
  datasets(): Promise<Dataset[]>;
}
