import type { Json, JsonObject } from '../../src/agent/context/message.ts';
import type { Database } from '../../src/database/postgres/pool.ts';
import { rows, value } from './helpers.ts';

/** What a function answers, or a row: its keys are the test's to know. */
export type Receipt = Record<string, any>; // eslint-disable-line @typescript-eslint/no-explicit-any

export interface EnqueueFields {
  requestId?: string;
  requestHash?: string;
  contextRef?: string;
  busy?: 'reject' | 'wait' | 'interrupt';
  input?: string;
  options?: JsonObject;
  delayMs?: number;
  ttlMs?: number;
  strategy?: string;
  parent?: JsonObject;
}

export interface ClaimFields {
  enqueueNo?: number;
  prompt?: string | null;
  /** Default true. */
  knowsAgent?: boolean;
  /** Negative: the lease is past at once. */
  leaseMs?: number;
  workerId?: string;
  /** Those the worker knows. */
  strategies?: string[];
  /** Whether the worker holds no other run; default true. */
  alone?: boolean;
  /** Of the worker that lost the run; null: unknown. */
  lossCause?: string | null;
}

export interface QueueAgainFields {
  enqueueNo?: number;
  graceMs?: number;
  /** Of the queue that takes the job. */
  prefix?: string;
  adoptMs?: number;
  adoptable?: string[];
  strategies?: string[];
  agentQueue?: boolean;
}

/** Drives the run `runId` of a thread through the functions of the write protocol, as a worker does. */
export function sqlRun(db: Database, threadId: string, runId: string) {
  const call = (text: string, ...values: unknown[]) =>
    value<Receipt>(db, `select lanefold.${text} as result`, ...values);
  return {
    id: runId,
    enqueue: ({
      requestId = runId,
      requestHash = 'aa',
      contextRef = 'default',
      busy,
      input = 'go',
      options,
      delayMs,
      ttlMs,
      strategy = 'react',
      parent,
    }: EnqueueFields = {}) =>
      call('enqueue_run($1, $2)', threadId, {
        run_id: runId,
        request_id: requestId,
        request_hash: requestHash,
        agent: 'agent',
        strategy,
        model: 'scripted:x',
        context_ref: contextRef,
        busy,
        input: { content: input },
        options,
        delay_ms: delayMs,
        ttl_ms: ttlMs,
        ...(parent ? { parent } : {}),
      }),
    claim: ({
      enqueueNo = 1,
      prompt = null,
      leaseMs = 60_000,
      workerId = 'w1',
      knowsAgent = true,
      strategies = ['react', 'cot', 'cod'],
      alone = true,
      lossCause,
    }: ClaimFields = {}) =>
      call('claim_run($1, $2, $3, $4)', threadId, runId, enqueueNo, {
        worker_id: workerId,
        lease_ms: leaseMs,
        ...(knowsAgent ? { prompt } : {}),
        config_fingerprint: 'f',
        agent_version: 'v_1',
        max_claims_without_progress: 5,
        alone,
        ...(lossCause === undefined ? {} : { loss_cause: lossCause }),
        strategies,
      }),
    commit: (step: number, body: JsonObject, { lease = 1, leaseMs = 60_000 } = {}) =>
      call('commit_step($1, $2, $3, $4, $5, $6)', threadId, runId, lease, step, leaseMs, {
        iteration: 1,
        state: { phase: 'llm' },
        ...body,
      }),
    record: (round: number, index: number, body: JsonObject, { lease = 1, leaseMs = 60_000 } = {}) =>
      call('record_tool_call($1, $2, $3, $4, $5, $6, $7)', threadId, runId, lease, leaseMs, round, index, body),
    suspend: (step: number, body: JsonObject, { lease = 1 } = {}) =>
      call('suspend_run($1, $2, $3, $4, $5)', threadId, runId, lease, step, { timeout_ms: 60_000, ...body }),
    decide: (round: number, index: number, decision: string, more: JsonObject = {}) =>
      call('decide_tool_call($1, $2, $3, $4, $5)', threadId, runId, round, index, { decision, ...more }),
    expire: (prefix = 'lf', adoptMs = 300_000) =>
      call('expire_waits($1, $2, $3, $4)', threadId, runId, prefix, adoptMs),
    renew: async ({ lease = 1, leaseMs = 60_000 } = {}) =>
      (
        await rows<Receipt>(db, 'select * from lanefold.renew_lease($1, $2, $3, $4)', threadId, runId, lease, leaseMs)
      )[0]!,
    queueAgain: ({
      enqueueNo = 1,
      graceMs = 0,
      prefix = 'lf',
      adoptMs = 300_000,
      adoptable = [],
      strategies = ['react'],
      agentQueue = false,
    }: QueueAgainFields = {}) =>
      rows<Receipt>(db, 'select * from lanefold.queue_run_again($1, $2, $3, $4)', threadId, runId, enqueueNo, {
        grace_ms: graceMs,
        prefix,
        adopt_ms: adoptMs,
        adoptable,
        strategies,
        ...(agentQueue ? { agent_queue: true } : {}),
      }),
    seen: (enqueueNo = 1) => call('mark_job_seen($1, $2, $3)', threadId, runId, enqueueNo),
    missing: (enqueueNo = 1) => call('mark_job_missing($1, $2, $3)', threadId, runId, enqueueNo),
    move: ({ enqueueNo = 1, patienceMs = 60_000 }: { enqueueNo?: number; patienceMs?: number | null } = {}) =>
      value<boolean>(db, 'select lanefold.move_run($1, $2, $3, $4)', threadId, runId, enqueueNo, patienceMs),
    ended: () => value<boolean>(db, 'select lanefold.run_ended($1, $2)', threadId, runId),
    finish: (body: JsonObject, lease: number | null = null) =>
      call('finish_run($1, $2, $3, $4)', threadId, runId, lease, body),
    cancel: (reason = 'user_cancelled') => call('cancel_run($1, $2, $3)', threadId, runId, reason),
    row: async () =>
      (await rows<Receipt>(db, 'select * from lanefold.run where thread_id = $1 and id = $2', threadId, runId))[0]!,
    calls: () =>
      rows<Receipt>(
        db,
        'select * from lanefold.run_tool_call where thread_id = $1 and run_id = $2 order by round, call_index',
        threadId,
        runId,
      ),
    events: async () =>
      (
        await rows<{ kind: string }>(
          db,
          'select kind from lanefold.run_event where thread_id = $1 and run_id = $2 order by seq',
          threadId,
          runId,
        )
      ).map((row) => row.kind),
  };
}

export const input = (db: Database, threadId: string, id: string, content: Json, more: JsonObject = {}) =>
  value<Receipt>(db, 'select lanefold.enqueue_input($1, $2)', threadId, {
    id,
    kind: 'steer',
    by: 'test',
    content,
    ...more,
  });

/** The step that brings the final answer. */
export const answer = (content: string, more: JsonObject = {}): JsonObject => ({
  entries: [{ role: 'assistant', payload: { content } }],
  events: [{ k: 'llm_completed', i: 1, e: 0 }],
  finish: { status: 'completed', reason: 'final_answer' },
  ...more,
});

/** The step in which the model asks for tools; opens `round`. */
export const asks = (ids: string[], round = 1): JsonObject => ({
  entries: [
    {
      role: 'assistant',
      payload: { content: '', tool_calls: ids.map((id) => ({ id, name: 'tool', arguments: { id } })) },
    },
  ],
  events: [{ k: 'llm_completed', i: 1, e: 0 }],
  calls: ids.map((id, index) => ({ index, id, name: 'tool' })),
  round,
  state: { phase: 'tools', round },
});

/** The step that closes `round` with one result per call. */
export const results = (ids: string[], round = 1): JsonObject => ({
  entries: ids.map((id) => ({ role: 'tool', payload: { tool_call_id: id, name: 'tool', content: `result of ${id}` } })),
  outcomes: ids.map(() => ({ status: 'ok', attempts: 1, duration_ms: 3 })),
  results_at: 0,
  round,
  state: { phase: 'llm', round },
});
