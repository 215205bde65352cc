/** The parts of API responses that the page reads. `/openapi.json` describes them in full. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export interface Page<T> {
  data: T[];
  next_after: string | null;
}

export type RunStatus = 'waiting' | 'queued' | 'running' | 'suspended' | 'completed' | 'failed' | 'cancelled';

/** Cost of model calls, in US dollars. */
export interface Cost {
  /** Null: no tokens with a known price. */
  cost: number | null;
  unpriced_tokens: number;
}

export interface ThreadSummary extends Cost {
  id: string;
  tenant_id: string;
  rev: number;
  active_run_id: string | null;
  updated_at: string;
  created_at: string;
  status: RunStatus | null;
  runs: number;
  total_tokens: number;
  last_run: { id: string; agent: string; model: string; error_type: string | null; start_at: string | null } | null;
  last_message: string | null;
  marks: MarkCount[] | null;
}

/** Something notable about a run. */
export interface Mark {
  run_id: string;
  kind: string;
  seq: number | null;
  llm_call_id: string | null;
  data: JsonObject;
}

/** A mark with its number of occurrences, at the place of the first one. */
export interface MarkCount extends Omit<Mark, 'data'> {
  count: number;
}

export interface Thread extends Cost {
  id: string;
  tenant_id: string;
  rev: number;
  event_rev: number;
  active_context_ref: string;
  active_run_id: string | null;
  metadata: JsonObject;
  state: JsonObject;
  parent_thread_id: string | null;
  fork_seq: number | null;
  created_at: string;
}

export interface ToolCall {
  id: string;
  name: string;
  arguments: Json;
}

export interface Message {
  role: string;
  content: Json;
  tool_calls?: ToolCall[] | null;
  tool_call_id?: string | null;
  name?: string | null;
  thinking?: string | null;
}

export interface Entry {
  seq: number;
  kind: string;
  context_ref: string | null;
  role: string | null;
  run_id: string | null;
  payload: JsonObject;
  refs: JsonObject;
  at: string;
}

export interface Lane {
  context_ref: string;
  anchor_seq: number;
  last_seq: number;
}

export interface Usage {
  input_tokens: number;
  output_tokens: number;
  total_tokens: number;
  cache_read_tokens?: number;
}

export interface AwaitedCall {
  round: number;
  index: number;
  name: string;
  arguments: Json;
}

export interface Run extends Cost {
  id: string;
  thread_id: string;
  agent: string;
  strategy: string;
  model: string;
  context_ref: string;
  status: RunStatus;
  termination_reason: string | null;
  iteration: number;
  usage: Usage | null;
  result: Json;
  error: { type: string; message: string } | null;
  awaiting: AwaitedCall[];
  suspended_until: string | null;
  created_at: string;
  /** The earliest time a worker may start it. */
  start_at: string | null;
  started_at: string | null;
  finished_at: string | null;
  duration_ms: number | null;
  /** The beginning of its user message. */
  question: string | null;
  /** Only in lists. */
  marks?: MarkCount[] | null;
}

export interface RunSnapshot extends Run {
  max_iterations: number | null;
  tool_calls: {
    round: number;
    index: number;
    id: string;
    name: string;
    arguments: Json;
    status: string;
    result: Json;
    attempts: number;
    duration_ms: number | null;
  }[];
  worker: { id: string; lease_until: string } | null;
  job: { queue: string; id: string };
  /** Why no worker takes it. */
  unattended: { message: string } | null;
}

export interface RunNode {
  node: number;
  parent: number | null;
  kind: string;
  status: string;
  score: number | null;
  content: string | null;
  call_id: string | null;
  usage: Usage | null;
}

export interface RunEvent {
  event_seq: number;
  run_id: string;
  kind: string;
  iteration: number;
  data: JsonObject;
  at: string;
}

export interface Input {
  id: string;
  kind: string;
  source: string;
  content: Json;
  status: string;
  entry_seq: number | null;
  created_at: string;
}

export interface ModelCall {
  thread_id: string;
  run_id: string;
  llm_call_id: string;
  context_ref: string;
  agent: string;
  model: string;
  window: number | null;
  iteration: number;
  seq: number;
  messages: Message[];
  sources: (number | null)[];
  context_hash: string;
  unverified_because: 'transformed' | 'output_contract' | 'mismatch' | null;
  answer: JsonObject;
  refs: JsonObject;
  usage: Usage | null;
  finish_reason: string | null;
  completed_at: string;
  duration_ms: number | null;
  failed_attempts: { kind: string; at: string; data: JsonObject }[];
  tools: { name: string; description: string | null; input_schema: JsonObject }[] | null;
  prefix_break: { position: number; seq: number; cause: string } | null;
  previous_call_id: string | null;
  next_call_id: string | null;
}

/** The result of a replayed call. */
export interface CallReplay {
  model: string;
  messages: number;
  answer: JsonObject | null;
  error: { type: string; message: string } | null;
  usage: Usage | null;
  duration_ms: number;
  /** Added by the page: differences other than the model. */
  changes: string[];
}

export interface ErasureReport {
  thread_id: string;
  removed: Record<string, number>;
  left: string[];
}

/** Whether a message is sent, and why. */
export interface ExplainedMessage {
  ordinal: number;
  /** The entry; -1 for a prompt that a policy adds. */
  seq: number;
  role: string;
  included: boolean;
  reason: string;
  tokens: number;
}

export interface Agent {
  name: string;
  model: string;
  strategy: string;
}

export interface Approval extends AwaitedCall {
  thread_id: string;
  run_id: string;
  agent: string;
  requested_at: string;
  expires_at: string;
}

export interface Worker {
  id: string;
  state: 'alive' | 'draining' | 'dead' | 'stopped';
  host: string;
  agents: string[];
  runs_held: number;
  heartbeat_at: string;
}

export interface Activity {
  runs: Record<string, number>;
  oldest_queued_seconds: number;
  jobs: { queue: string; counts: Record<string, number> }[];
  fleet: { alive: number };
  /** Only workers that hold runs. */
  workers: { id: string }[];
  errors: { type: string; runs: number; last_at: string }[];
  slots: {
    at: string;
    runs: number;
    failed: number;
    input_tokens: number;
    output_tokens: number;
    cached_tokens: number;
    /** US dollars. */
    cost: number;
    unpriced_tokens: number;
  }[];
  since: string;
}
