// Generated from declaration.ts beside it: run `npm run types:api`.

import type { JsonObject } from '../context/message.ts';
import type { Json } from '../context/message.ts';

/** Which versions of an agent serve its threads. */
export interface ListedRollout {
  agent: string;
  /**
   * Shares by label, such as `{ a: 90, b: 10 }`, relative to their sum: one above 0, for 1 to 20 versions. A
   * version with 0 gets no new threads.
   */
  shares: Record<string, number>;
  /** The limit key whose value is hashed, so that all threads of a customer get one version; null: the thread. */
  key: string | null;
  /** Labels with a share that no worker has had and that this process does not know. */
  unknown: string[];
  /** When it was last set. */
  updatedAt: Date;
  /** `operator`, `key:<id>` or `cli:<user>`. */
  updatedBy: string;
}

/** A version of an agent, with counts, duration and cost of its runs. */
export interface ListedVersion {
  agent: string;
  /** Hash of its definition. */
  id: string;
  /** The label under which a worker last started with this version. */
  label: string | null;
  /** Prompt, model, settings, tools, strategy, policy, output contract and limits. */
  definition: JsonObject;
  /** When a worker first started with it. */
  firstAt: Date;
  /** When a worker last started with it. */
  lastAt: Date;
  /** Runs count if they were accepted after this time. At most the newest 10,000 runs of all agents are looked at. */
  since: Date;
  /** Runs that were accepted within `hours`, and not before `since`. */
  runs: number;
  completed: number;
  failed: number;
  /** The mean time from start to end of the ended runs. */
  meanDurationMs: number | null;
  inputTokens: number;
  outputTokens: number;
  /** In US dollars; null if no price is known. */
  cost: number | null;
  /** Tokens of models without a known price. */
  unpricedTokens: number;
}

/** A rollout, as you set it. */
export interface RolloutDefinition {
  /**
   * Shares by label, such as `{ a: 90, b: 10 }`, relative to their sum: one above 0, for 1 to 20 versions. A
   * version with 0 gets no new threads.
   */
  shares: Record<string, number>;
  /** The limit key whose value is hashed, so that all threads of a customer get one version; null: the thread. */
  key?: string | null;
}

/** A difference between two versions of an agent. */
export interface VersionChange {
  /**
   * Where: names of fields and of tools, joined by dots, such as `settings.temperature` or
   * `tools.refund.description`.
   */
  path: string;
  /** Absent: it was added. */
  from?: Json;
  /** Absent: it was removed. */
  to?: Json;
}
