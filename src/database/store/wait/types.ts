// Generated from declaration.ts beside it: run `npm run types:api`.

import type { Call } from '../run/types.ts';
import type { RunStatus } from '../run/types.ts';
import type { Json } from '../../../agent/context/message.ts';
import type { RunRef } from '../run/run-ref.ts';

export interface DecisionReceipt {
  threadId: string;
  runId: string;
  /** Its name, for `runs.approve` and the like: round and index, such as `1.0`. */
  call: Call;
  decision: 'approved' | 'denied';
  by: string | null;
  reason: string | null;
  /** When the decision was made. */
  decidedAt: Date;
  /** The same decision was made before; `by` and `reason` are from the first one. */
  duplicate: boolean;
  status: RunStatus;
}

/** A tool call that waits for human approval. */
export interface PendingApproval {
  threadId: string;
  runId: string;
  agent: string;
  /** Its name, for `runs.approve` and the like: round and index, such as `1.0`. */
  call: Call;
  /** Tool round of the run, from 1. */
  round: number;
  /** Position in the round, from 0. */
  index: number;
  name: string;
  /** Arguments from the model. */
  arguments: Json;
  /** When the call began to wait. */
  requestedAt: Date;
  /** When the call is denied if it is still undecided. */
  expiresAt: Date;
  /** The root of its tree, if a tool call of another run started its run. */
  root: RunRef | null;
}

/** A tool call that waits for an event, a time or another run. */
export interface PendingWait {
  threadId: string;
  runId: string;
  /** Its name, for `runs.approve` and the like: round and index, such as `1.0`. */
  call: Call;
  /** Tool round of the run, from 1. */
  round: number;
  /** Position in the round, from 0. */
  index: number;
  /** The name of the tool. */
  name: string;
  kind: 'event' | 'time' | 'run';
  /** The event it waits for. */
  event: string | null;
  /** The run it waits for. */
  run: RunRef | null;
  /** Since when it waits. */
  since: Date;
  /** When it ends by itself; null: never. */
  until: Date | null;
}
