/** What a write of the worker that holds a run is fenced by. */
export interface HeldLease {
  readonly threadId: string;
  readonly runId: string;
  readonly leaseMs: number;
  readonly lease: number;
  /** The step the worker believes the run is at. */
  readonly step: number;
}
