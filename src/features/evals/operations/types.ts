// Generated from declaration.ts beside it: run `npm run types:api`.

import type { EvalDefinition } from '../store/types.ts';
import type { OverrideCaller } from '../../../agent/definition/overridable.ts';
import type { ListedEval } from '../store/types.ts';
import type { ListedEvalItem } from '../store/types.ts';
import type { EvalReport } from '../report/report.ts';

/** How long to wait for the end of an eval. */
export interface EvalWaitOptions {
  /** Default: ten minutes. */
  timeoutMs?: number;
  /** Ends the waiting; the eval continues. */
  signal?: AbortSignal;
}

export interface Evals {
  /**
   * Starts an eval: workers ask each case under each variant, on threads that begin as the original one was, and
   * score the answers. The original threads are not changed.
   *
   * @throws LanefoldError `invalid_input`, `dataset_empty`, `unknown_agent`, `unknown_model`,
   * `override_not_allowed`, `invalid_policy`, `unknown_window`
   */
  run(
    definition: EvalDefinition,
    options?: {
      /** The tenant whose cases are asked; default: the tenant of the library, else `default`. */
      tenant?: string;
      /** Who makes the change, for the audit; default `operator`. */
      by?: string;
      /**
       * Where the request comes from. With `http`, the agent must list every field that the request overrides. Default
       * `library`.
       */
      from?: OverrideCaller;
    },
  ): Promise<ListedEval>;
  /** List the evals, newest first. */
  list(options?: {
    /** The `nextAfter` of the previous page. */
    after?: string;
    /** Maximum number of items; default 50. */
    limit?: number;
  }): Promise<{
    data: ListedEval[];
    /**
     * Pass it as `after` to get the next page; null on the last page. A page of a filtered list may be short or empty
     * even if more follow.
     */
    nextAfter: string | null;
  }>;
  /**
   * Get an eval with its progress.
   *
   * @throws LanefoldError `eval_not_found`
   */
  get(evalId: string): Promise<ListedEval>;
  /**
   * The items in the order in which they run; with `caseId`, those of one case.
   *
   * @throws LanefoldError `eval_not_found`, `invalid_id`
   */
  items(
    evalId: string,
    options?: {
      /** Return the items after this number: the `nextAfter` of the previous page. */
      after?: number;
      /** Maximum number of items; default 100. */
      limit?: number;
      /** Only the items of this case. */
      caseId?: string;
    },
  ): Promise<ListedEvalItem[]>;
  /**
   * Compares the variants, also of an eval that is still running.
   *
   * @throws LanefoldError `eval_not_found`, `invalid_input`
   */
  report(
    evalId: string,
    options?: {
      /** The variant that the others are compared with; default: the first one. */
      baseline?: string;
      /** Seed of the random samples (bootstrap) from which intervals are computed; default 1. */
      seed?: number;
      /** Number of random samples (bootstrap) from which intervals are computed; default 2,000. */
      resamples?: number;
    },
  ): Promise<EvalReport>;
  /**
   * Cancels the unfinished runs of the eval. Ended items stay, and the other items are skipped.
   *
   * @throws LanefoldError `eval_not_found`, `eval_ended`
   */
  cancel(
    evalId: string,
    options?: {
      /** Who makes the change, for the audit; default `operator`. */
      by?: string;
    },
  ): Promise<ListedEval>;
  /**
   * Score the answers of an ended eval again. Scores by what the cases expect now. An item keeps its scores if its
   * case or its thread no longer exists.
   *
   * @throws LanefoldError `eval_not_found`, `eval_running`
   */
  rescore(
    evalId: string,
    options?: {
      /** Who makes the change, for the audit; default `operator`. */
      by?: string;
    },
  ): Promise<ListedEval>;
  /**
   * Remove an ended eval. Workers erase the threads of its runs.
   *
   * @throws LanefoldError `eval_not_found`, `eval_running`
   */
  remove(
    evalId: string,
    options?: {
      /** Who makes the change, for the audit; default `operator`. */
      by?: string;
    },
  ): Promise<void>;
}
