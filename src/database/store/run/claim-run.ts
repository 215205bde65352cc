import { call } from '../call.ts';
import { randomInt } from 'node:crypto';
import type { JsonObject, Message, Usage } from '../../../agent/context/message.ts';
import type { StateEffect } from '../../../agent/context/state.ts';
import type { Database } from '../../postgres/pool.ts';
import type { StrategyState } from '../../../agent/strategies/machine.ts';
import type { RunError } from '../../../agent/strategies/records.ts';
import type { RefusedEffect } from '../../../agent/tools/effects.ts';
import type { NextAgent } from '../../../agent/tools/handoff.ts';
import { contextLimit } from '../rows.ts';
import { callFunction, repeatIfLost } from '../call-function.ts';
import type { QueuedRun } from './queued-run.ts';
import type { RunOptions, LoggedConfig } from '../../../agent/definition/run-options.ts';
import type { FinishResult } from './finish-run.ts';
import type { LossCause, LostWorker } from '../worker/list-workers.ts';

/** What a worker passes to a claim. */
export interface ClaimRequest extends ClaimTerms {
  threadId: string;
  runId: string;
  enqueueNo: number;
}

/** The part of a claim that follows from the agent that the worker has. */
export interface TermsOfAgent {
  /** Null: the agent has none. */
  prompt: string | null;
  fingerprint: string;
  /** The version of the agent that this worker has. */
  agentVersion: string;
  /** The tools that a request or a thread may name for the agent. */
  tools: readonly string[];
}

/** The part of a claim that does not name the run. */
export interface ClaimTerms extends TermsOfAgent {
  workerId: string;
  leaseMs: number;
  /** By label, or by id for one without, what each version that it has changes; undefined if it has one without label. */
  versions?: Record<string, TermsOfAgent> | undefined;
  maxClaimsWithoutProgress: number;
  /** Names of the strategies that the worker knows. */
  strategies: readonly string[];
  /** The worker holds no other run, and takes none before this one has made progress. */
  alone: boolean;
  /** Of an earlier worker that lost the run; null: the cause is unknown. */
  lossCause?: LossCause | null | undefined;
  /** Tools that the thread names and that no worker has for the agent. */
  ignoredTools?: readonly string[];
}

/** A run that this worker holds, with the context of its next model call. */
export interface Claim {
  claimed: true;
  /** The first claim: the user message has just been written. */
  fresh: boolean;
  lease: number;
  step: number;
  iteration: number;
  agent: string;
  strategy: string;
  model: string;
  context_ref: string;
  request_id: string;
  options: RunOptions | null;
  usage: Usage | null;
  /** The part of `usage` spent on other models than the run's, by model. */
  other_usage: Record<string, Usage> | null;
  state: StrategyState | null;
  cancel_requested: boolean;
  thread_state: JsonObject;
  /** `seq` of the message the run began with; null for a run without a message of its own. */
  user_seq: number | null;
  /** Tools and tool context as the log of the thread configures them; null if it does not. */
  config: LoggedConfig | null;
  context: (Message & { seq: number; refs?: JsonObject | null })[];
  /** The ledger of the open round, if the run waits for tools. */
  calls: LedgerRow[] | null;
  /** The W3C `traceparent` with which the run was enqueued. */
  traceparent: string | null;
  /** The answers its strategy has stored, if the run is resumed. */
  nodes: NodeRow[] | null;
  /** Time since the run started. */
  elapsed_ms: number;
  /** How long it could have continued before this claim; see `_run.ready_at`. */
  queued_ms: number;
  tenant_id: string;
  /** The API key that started the run. */
  caller: string | null;
  created_at: string;
  /** A limit had delayed the run. */
  waited: boolean;
  /** The tools for which the run was moved to this worker, as `Needs` has them. */
  unknown_tools: string[] | null;
  /** The version of its agent that the worker had which claimed it last. */
  earlier_version: string | null;
  /** The number of the newest change of limits. */
  limits_version: number;
}

/** A stored answer to a question that the strategy itself asked. */
export interface NodeRow {
  node: number;
  kind: string;
  status: 'tools' | 'answered';
  content: string | null;
  usage: Usage;
  elapsed_ms: number;
  data: JsonObject | null;
}

export interface LedgerRow {
  /** `seq` of the message that makes the call. */
  call_seq: number;
  call_index: number;
  tool_call_id: string;
  name: string;
  status: 'pending' | 'awaiting_approval' | 'waiting' | 'started' | 'ok' | 'error' | 'unknown' | 'denied' | 'abandoned';
  attempts: number;
  duration_ms: number | null;
  outcome: {
    content: string;
    cleaned?: boolean;
    effects?: StateEffect[];
    refused?: RefusedEffect[];
    refs?: JsonObject;
    next?: NextAgent;
    waited?: true;
  } | null;
  /** Present if human approval was requested; a denied call also has an outcome. */
  approval: { decision?: 'approved' | 'denied' } | null;
}

export interface Refusal {
  claimed: false;
  status: string | null;
  reason:
    | 'unknown'
    | 'superseded'
    | 'leased'
    | 'not_queued'
    | 'poisoned'
    | 'context_too_large'
    | 'claim_failed'
    | 'alone'
    | 'early'
    | 'expired'
    | 'unknown_version'
    | 'unknown_strategy'
    | 'unknown_tool';
  /** If the run is moved: the queue of its agent, which gets the job. */
  agent_queue?: string;
  /** If the worker lacks tools: those that the request names. */
  tools?: string[];
  /** If the worker lacks tools: those that the thread adds to its runs. */
  added?: string[];
  /** If it is left for a worker that holds no other run: the worker that lost it, if one did. */
  lost?: LostWorker;
  /** If it is left for such a worker: the next claim ends the run, unless the loss has a cause outside of it. */
  ends?: true;
  /** If it is early: how long to wait. */
  delay_ms?: number;
  /** If the claim ended the run: the next run of its thread. */
  promoted?: QueuedRun | null;
}

/** The lease number rises by less than this per claim, so 2^53 suffices for eight billion claims of one run. */
export const longestGap = 2 ** 20;

export async function claimRun(db: Database, request: ClaimRequest): Promise<Claim | Refusal> {
  const body = claimBody(db, request);
  return repeatIfLost((repeated) =>
    callFunction(db, 'claim_run', {
      threadId: request.threadId,
      runId: request.runId,
      enqueueNo: request.enqueueNo,
      p: repeated ? { ...body, repeated } : body,
    }),
  );
}

/** A claim as `claim_run` takes it. */
export const claimBody = (db: Database, request: ClaimTerms): JsonObject => ({
  worker_id: request.workerId,
  lease_ms: request.leaseMs,
  lease_gap: randomInt(1, longestGap),
  ...termsOf(request),
  ...(request.versions && {
    versions: Object.fromEntries(Object.entries(request.versions).map(([label, terms]) => [label, termsOf(terms)])),
  }),
  max_claims_without_progress: request.maxClaimsWithoutProgress,
  alone: request.alone,
  ...(request.lossCause !== undefined && { loss_cause: request.lossCause }),
  ...(request.ignoredTools && { ignored_tools: [...request.ignoredTools] }),
  strategies: [...request.strategies],
  ...contextLimit(db),
});

const termsOf = ({ prompt, fingerprint, agentVersion, tools }: TermsOfAgent) => ({
  prompt,
  // shortened to 132 bits, because every run stores it
  config_fingerprint: fingerprint.slice(0, 22),
  agent_version: agentVersion,
  tools: [...tools],
});

interface FailedClaim {
  threadId: string;
  runId: string;
  enqueueNo: number;
  maxClaimsWithoutProgress: number;
  error: RunError;
}

interface CountedClaim extends Partial<FinishResult> {
  /** False: the job is no longer the run's current one. */
  counted: boolean;
  /** How many claims have failed, if the run may be claimed again. */
  claims?: number;
}

/** Counts a claim that raised an error. If it was one too many, the run ends, and this returns how it ended. */
export async function claimFailed(
  db: Database,
  { threadId, runId, enqueueNo, maxClaimsWithoutProgress, error }: FailedClaim,
): Promise<CountedClaim> {
  const body = { max_claims_without_progress: maxClaimsWithoutProgress, error };
  return (await call(db.queryLocking, 'claim_failed', { threadId, runId, enqueueNo, p: body })) as CountedClaim;
}
