// Generated from declaration.ts beside it: run `npm run types:api`.

import type { JsonObject } from '../../../agent/context/message.ts';
import type { ModelOption } from '../../../agent/models/model-chain.ts';
import type { PolicyOption } from '../../../agent/policy/types.ts';

/** What an eval asks. */
export interface EvalDefinition {
  /** The dataset whose cases are asked. */
  dataset: string;
  /** Only cases with this tag. */
  tag?: string;
  /** Only cases of this part. */
  split?: string;
  /** Only these cases of the dataset. An id that is not among its cases is refused. */
  caseIds?: string[];
  /** The variants to compare; the first variant is the baseline. Default: one variant, `current`, without changes. */
  variants?: EvalVariant[];
  /** How often each case is asked under each variant; default 1. */
  repeats?: number;
  /**
   * `recorded` (default): what they returned in the original run, by name and arguments. `live`: tools with
   * `replay: 'safe'` or `'readOnly'` run, others fail. `stubs`: what `stubs` has for their name.
   */
  tools?: EvalTools;
  /** What each tool returns, by its name. */
  stubs?: JsonObject;
  /** How many runs execute at once; default 4. */
  concurrency?: number;
  /**
   * What all its runs together may cost, in US dollars; those of judges do not count. Items that it does not pay
   * are skipped, and so are those of models without a known price. A lower limit of the agent stays.
   */
  maxCost?: number;
  /** Time after its start at which the run ends with the best result it has. */
  maxDurationMs?: number;
  /** Priority of its runs; default 1,000, which is behind the runs of users with priority 0. */
  priority?: number;
  /** Ask every case again, even if an earlier eval has an answer for the same variant; default false. */
  fresh?: boolean;
  /** The agent that scores answers by `expected.rubric`, and its model. */
  judge?: {
    agent: string;
    /** Overrides the model of the agent, with those that stand in for it. */
    model?: ModelOption;
  };
}

/** One case, run once under one variant. */
export interface EvalItem {
  caseId: string;
  tags: string[];
  variant: string;
  /** Number of the repeat, from 1. */
  repeat: number;
  /**
   * `failed` if the run failed; `skipped` if the eval was cancelled, or its budget used up, before it had an
   * answer; `erased` if the thread of the case was erased.
   */
  status: 'waiting' | 'running' | 'scoring' | 'done' | 'failed' | 'skipped' | 'erased';
  answer: string | null;
  scores: Score[];
  /** Of its run. */
  durationMs: number | null;
  /** Of its run. */
  inputTokens: number | null;
  /** Of its run. */
  outputTokens: number | null;
  /** How many of both are estimates, because the provider did not count them; null for none. */
  estimatedTokens?: number | null;
  /** In millionths of a US dollar; 0 if the answer is reused; null if the price is unknown. */
  costMicros: number | null;
  /**
   * The limit that ended the run before it had an answer, such as `max_iterations`; null if none did. A case of a
   * call asks for one message of the model, so a tool call answers it.
   */
  endedBy: string | null;
  /** The first difference from the recorded run; null if there is none. */
  diverged: string | null;
  /** Whether the answer is that of an earlier eval. */
  reused: boolean;
  /** Why the item failed or was skipped. */
  error: string | null;
}

export type EvalItemStatus = 'waiting' | 'running' | 'scoring' | 'done' | 'failed' | 'skipped' | 'erased';

/** What tools return in the runs of an eval. */
export type EvalTools = 'recorded' | 'live' | 'stubs';

/** Changes under which the cases are asked again. Absent fields follow the agent as it is now. */
export interface EvalVariant {
  /** Default: a name made from the other fields. */
  name?: string;
  /** Default: the agent of the case. */
  agent?: string;
  /** The version of the agent: a label or an id. Default: the first one. */
  version?: string;
  /**
   * Default: the model that the original run named, or else the model of the agent. The same holds for the
   * strategy.
   */
  model?: ModelOption;
  /** A policy, or the name of a preset. */
  contextPolicy?: PolicyOption;
  /** Replaces the prompt of the lane; null: none. */
  systemPrompt?: string | null;
}

/** An eval with its progress. */
export interface ListedEval {
  id: string;
  tenant: string;
  dataset: string;
  status: 'running' | 'completed' | 'cancelled';
  /** The request of the eval, with defaults filled in. */
  spec: EvalDefinition;
  /** How many items are in each status. */
  items: {
    /** Items that are waiting. */
    waiting: number;
    /** Items that are running. */
    running: number;
    /** Items that are being scored. */
    scoring: number;
    /** Items that are done. */
    done: number;
    /** Items that are failed. */
    failed: number;
    /** Items that are skipped. */
    skipped: number;
    /** Items that are erased. */
    erased: number;
  };
  /** What waiting items need but no live worker has: `agent`, or `agent@version`. */
  unattended: string[];
  /** The cost in millionths of a US dollar, without models whose price is unknown. */
  costMicros: number;
  /** `operator`, `key:<id>` or `cli:<user>`. */
  createdBy: string;
  /** When it was started. */
  createdAt: Date;
  /** When its last item was settled. */
  finishedAt: Date | null;
}

/** An item with its runs. */
export interface ListedEvalItem {
  /** Place of the item in the eval, from 1. */
  no: number;
  caseId: string;
  tags: string[];
  variant: string;
  /** Number of the repeat, from 1. */
  repeat: number;
  /**
   * `failed` if the run failed; `skipped` if the eval was cancelled, or its budget used up, before it had an
   * answer; `erased` if the thread of the case was erased.
   */
  status: 'waiting' | 'running' | 'scoring' | 'done' | 'failed' | 'skipped' | 'erased';
  answer: string | null;
  scores: Score[];
  /** Of its run. */
  durationMs: number | null;
  /** Of its run. */
  inputTokens: number | null;
  /** Of its run. */
  outputTokens: number | null;
  /** How many of both are estimates, because the provider did not count them; null for none. */
  estimatedTokens: number | null;
  /** In millionths of a US dollar; 0 if the answer is reused; null if the price is unknown. */
  costMicros: number | null;
  /**
   * The limit that ended the run before it had an answer, such as `max_iterations`; null if none did. A case of a
   * call asks for one message of the model, so a tool call answers it.
   */
  endedBy: string | null;
  /** The first difference from the recorded run; null if there is none. */
  diverged: string | null;
  /** Whether the answer is that of an earlier eval. */
  reused: boolean;
  /** Why the item failed or was skipped. */
  error: string | null;
  agent: string;
  threadId: string | null;
  runId: string | null;
  judgeThreadId: string | null;
  judgeRunId: string | null;
  /** When it was settled. */
  settledAt: Date | null;
}

/** The score that a scorer gave an answer. */
export interface Score {
  scorer: string;
  /** The version of the scorer when it gave the score; null if it has none. */
  version: string | null;
  /** 0 to 1; null if the scorer does not apply to the case, or failed (`error` says which). */
  score: number | null;
  reason: string | null;
  /** Why the scorer failed, as a sentence; null if it did not. */
  error: string | null;
  /** Of a judge: the model that answered. */
  model?: string;
}
