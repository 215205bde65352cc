import type { ReadyAgent } from '../../agent/definition/registry.ts';
import type { Claim, LedgerRow } from '../../database/store/run/claim-run.ts';
import type { LargeContent } from '../../agent/context/large-content.ts';
import type { CallPool } from './call-pool.ts';
import type { RunContext } from './context.ts';
import type { HeldRun } from './held-run.ts';
import type { RunClock } from './run-clock.ts';

/** A claimed run while this worker drives it. */
export interface ActiveRun {
  readonly run: HeldRun;
  readonly claim: Claim;
  readonly agent: ReadyAgent;
  /** Replaced when the lane is compacted. */
  context: RunContext;
  /** Compacting its context failed or changed nothing: this worker does not try again in every round. */
  unsummarised?: true;
  /** The stored outcomes of the tool round in which the run was claimed; null from the next round on. */
  ledger: LedgerRow[] | null;
  /** `seq` of the message that makes the calls of the current tool round. */
  callSeq: number | undefined;
  /** Large texts of tool results; the next commit stores them with the results. */
  contents: LargeContent[];
  readonly clock: RunClock;
  /** The model calls of a strategy that makes several at once. */
  pool?: CallPool;
}
