// Generated from declaration.ts beside it: run `npm run types:api`.

import type { Json } from '../../../agent/context/message.ts';

export interface ConfigReceipt {
  /** deferred: the change is applied when the active run ends. */
  status: 'applied' | 'deferred';
  /** The first entry of the change. */
  firstSeq: number | null;
}

/** A message of one of two contexts, or of both. */
export interface DiffRow {
  /** removed: only in the first context; added: only in the second. */
  change: 'same' | 'removed' | 'added';
  /** Position in the first context. */
  ordinal: number | null;
  /** Its entry in the first thread. */
  seq: number | null;
  /** Position in the second context. */
  other_ordinal: number | null;
  /** Its entry in the second thread. */
  other_seq: number | null;
  role: string;
  /** A string or an array of parts. */
  content: Json;
  /** An array or null. */
  tool_calls: Json;
  tool_call_id: string | null;
  name: string | null;
}

/** A named context of a thread. */
export interface Lane {
  contextRef: string;
  /** `seq` of the anchor, the latest replace operation; -1: none. */
  anchorSeq: number;
  /** `seq` of the last entry of the lane. */
  lastSeq: number;
  /** Number of tool calls of the last message that have no result yet. */
  openCalls: number;
}

export interface OperationReceipt {
  opId: string;
  /**
   * `deferred`: a run is active; the operation is applied when that run ends, unless a later one displaces it.
   * `stale`: a compaction whose `baseSeq` lies before a newer anchor or inside a tool group; nothing changed.
   */
  status: 'applied' | 'deferred' | 'duplicate' | 'stale';
  opStatus: 'pending' | 'applied' | 'superseded' | 'stale';
  /** The entry of the operation, once applied. */
  seq: number | null;
}
