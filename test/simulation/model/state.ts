import type { FoldEntry } from '../../../src/agent/context/fold.ts';
import type { JsonObject } from '../../../src/agent/context/message.ts';

/** What the functions of the database are given and answer: their keys depend on the function. */
export type Body = Record<string, any>; // eslint-disable-line @typescript-eslint/no-explicit-any

/** An entry of the log. Entries that a run wrote have its request. */
export interface Entry extends FoldEntry {
  op_id: string | null;
}

/** An entry before it has a `seq`; what is left out is null. */
export type Draft = Partial<Omit<Entry, 'seq' | 'refs'>> & {
  payload: JsonObject;
  refs?: JsonObject | null | undefined;
};

export interface Event {
  run_id: string;
  kind: string;
}

export type Status = 'waiting' | 'queued' | 'running' | 'suspended' | 'completed' | 'failed' | 'cancelled';

/** Moments are milliseconds since 1970; null: never. */
export interface Run {
  id: string;
  request_id: string;
  request_hash: string;
  agent: string;
  strategy: string;
  model: string;
  context_ref: string;
  input: Body | null;
  options: Body | null;
  status: Status;
  /** The thread's active run: queued, running or suspended. */
  active: boolean;
  interrupts: boolean;
  enqueue_no: number;
  queue_prefix: string;
  created_at: number;
  enqueued_at: number;
  ready_at: number | null;
  start_at: number | null;
  expires_at: number | null;
  started_at: number | null;
  finished_at: number | null;
  cancel_requested_at: number | null;
  cancel_reason: string | null;
  sealed_at: number | null;
  suspended_until: number | null;
  lease: number;
  lease_until: number | null;
  lease_ms: number;
  worker_id: string | null;
  agent_version: string | null;
  step: number;
  iteration: number;
  claims: number;
  claims_alone: number;
  lost_at: number | null;
  usage: Body | null;
  state: Body | null;
  last_commit: Body | null;
  user_seq: number | null;
  termination_reason: string | null;
  error: Body | null;
  calls: Call[];
}

/** A row of the ledger. */
export interface Call {
  round: number;
  call_index: number;
  tool_call_id: string;
  name: string;
  status: string;
  attempts: number;
  duration_ms: number | null;
  outcome: Body | null;
  approval: Body | null;
  call_seq: number;
  result_seq: number | null;
  /** When its approval ends by itself; null: it does not wait. */
  open_until: number | null;
  /** It has asked for approval: asking again writes nothing. */
  asked: boolean;
}

export interface Input {
  id: string;
  run_id: string;
  kind: string;
  by: string;
  content: string;
  status: 'queued' | 'injected' | 'dropped';
}

export interface Operation {
  context_ref: string;
  hash: string;
  status: 'pending' | 'applied' | 'superseded' | 'stale';
  operation: Body | null;
  entry_seq: number | null;
}

export interface Thread {
  id: string;
  created_at: number;
  entries: Entry[];
  events: Event[];
  /** In the order of their requests. */
  runs: Run[];
  active_run_id: string | null;
  active_context_ref: string;
  pending_op_id: string | null;
  receipts: Map<string, { first_seq: number; hash: string }>;
  operations: Map<string, Operation>;
  /** In the order in which they were accepted. */
  inputs: Map<string, Input>;
  lanes: Set<string>;
  parent?: { thread_id: string; seq: number; hash: string };
}

export const newThread = (id: string, created_at: number): Thread => ({
  id,
  created_at,
  entries: [],
  events: [],
  runs: [],
  active_run_id: null,
  active_context_ref: 'default',
  pending_op_id: null,
  receipts: new Map(),
  operations: new Map(),
  inputs: new Map(),
  lanes: new Set(),
});

export const runOf = (thread: Thread, id: unknown): Run | undefined => thread.runs.find((run) => run.id === id);

export const activeRun = (thread: Thread): Run | undefined =>
  thread.active_run_id === null ? undefined : runOf(thread, thread.active_run_id);

/** What limits have to know of a run. */
export const toLimitedRun = ({ agent, model, options, created_at, finished_at, iteration, usage }: Run): Body => ({
  tenant_id: 'default',
  agent,
  model,
  priority: options?.['priority'] ?? null,
  iteration,
  usage,
  created_at: new Date(created_at),
  finished_at: finished_at === null ? null : new Date(finished_at),
});

/** Its only work is to compact its lane: it asks for nothing, and makes no other run refuse the thread. */
export const compacts = ({ options }: Run): boolean => options?.['compaction'] !== undefined;

export const hasEnded = ({ finished_at }: Run): boolean => finished_at !== null;

export const queuedInputs = (thread: Thread, run: Run): Input[] =>
  [...thread.inputs.values()].filter(({ run_id, status }) => run_id === run.id && status === 'queued');
