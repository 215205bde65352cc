import type { ReadyAgent } from '../../agents/registry.ts';
import type { Claim, LedgerRow } from '../../store/run/claim-run.ts';
import type { LargeContent } from '../../context/large-content.ts';
import type { CallPool } from './call-pool.ts';
import type { RunContext } from './context.ts';
import type { HeldRun } from './held-run.ts';
import type { RunClock } from './run-clock.ts';

/** A claimed run while this worker drives it. */
export interface ActiveRun {
  readonly run: HeldRun;
  readonly claim: Claim;
  readonly agent: ReadyAgent;
  /** Another one after a compaction of the lane. */
  context: RunContext;
  /** Its context could not be summarised: this worker does not try again with each round. */
  unsummarised?: true;
  /** The stored outcomes of the tool round in which the run was claimed; null from the next round on. */
  ledger: LedgerRow[] | null;
  /** `seq` of the message that makes the calls of the tool round under way. */
  callSeq: number | undefined;
  /** Large texts that the next commit stores, of the tool results it writes. */
  contents: LargeContent[];
  readonly clock: RunClock;
  /** The calls of a strategy that makes several at a time. */
  pool?: CallPool;
}
