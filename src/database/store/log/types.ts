// Generated from declaration.ts beside it: run `npm run types:api`.

import type { JsonObject } from '../../../agent/context/message.ts';
import type { RunStatus } from '../run/types.ts';
import type { RunMarkCount } from '../trace/types.ts';
import type { MarkKind } from '../trace/types.ts';

export interface AppendReceipt {
  firstSeq: number;
  /** Current number of entries of the thread. For a duplicate, it includes entries appended since. */
  rev: number;
  duplicate: boolean;
}

/** A part of a large text. */
export interface ContentRange {
  id: string;
  /** Length of the whole text in characters (code points). */
  chars: number;
  /** Length of the whole text in bytes of UTF-8. */
  bytes: number;
  /** Where this part begins, in characters. */
  offset: number;
  text: string;
  /** Where the next part begins; null at the end. */
  nextOffset: number | null;
}

export interface ForkReceipt {
  id: string;
  rev: number;
  /** This fork existed already. */
  duplicate: boolean;
}

/** A thread as lists show it, without its log and state. */
export interface RecordedSummary {
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
  /** Number of runs, up to 1,000. */
  runs: number;
  /** Total tokens of these runs. */
  totalTokens: number;
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
  /** How many threads the tool calls of its runs have created. */
  children: number;
}

export interface RecordedThread {
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
}

/** One row of the append-only log. */
export interface ThreadEntry {
  /** Position in the log, from 0, without gaps. */
  seq: number;
  kind: string;
  contextRef: string | null;
  role: string | null;
  opId: string | null;
  runId: string | null;
  requestId: string | null;
  /** Content of the entry. */
  payload: JsonObject;
  /** Provenance. */
  refs: JsonObject;
  /** When the entry was appended. */
  at: Date;
}

/** Which threads to list. */
export interface ThreadFilter {
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
}
