// Generated from declaration.ts beside it: run `npm run types:api`.

import type { RunHandle } from '../run/run.ts';

/** A lane, and where it left another one: a row of the view `lane_tree`. */
export interface Branch {
  contextRef: string;
  /** The lane that the branch left; null for a lane that is no branch. */
  parentContextRef: string | null;
  /** The last entry whose context the branch has; -1: none. */
  branchedAfterSeq: number | null;
  /** The message that the first one of the branch follows; null: it is empty before. */
  parentSeq: number | null;
  /** The first lane of its tree. */
  rootContextRef: string;
  /** The anchor with which the branch began. */
  branchSeq: number | null;
  /** Whether it is the active lane of the thread. */
  shown: boolean;
  /** The last entry of the lane. */
  lastSeq: number;
  /** When the lane began. */
  createdAt: Date;
}

/** A new lane of a thread, and the run that was accepted with it. */
export interface BranchReceipt {
  opId: string;
  /** The new lane. */
  contextRef: string;
  /** Its anchor. */
  seq: number;
  parent: {
    /** The lane that it left. */
    contextRef: string;
    /** The last entry whose context it has; -1: none. */
    afterSeq: number;
    /** The message that the first one of the branch follows; null: it is empty before. */
    parentSeq: number | null;
  };
  /** Whether it is the active lane now. While a run is active, it is shown later. */
  shown: boolean;
  /** The branch was made by an earlier request. */
  duplicate: boolean;
  /** The run on the branch. */
  run: RunHandle | null;
}

/** A message, the one before it and its siblings: a row of the view `message_tree`. */
export interface TreeMessage {
  /** The entry of the message. */
  seq: number;
  /** The lane on which it was written. */
  contextRef: string;
  role: string;
  /** The run that wrote it. */
  runId: string | null;
  /** The message before it, across branches; null: it is the first. */
  parentSeq: number | null;
  /** How many messages follow the same one, itself included. */
  siblings: number;
  /** Its place among them, from 1, in the order of the log. */
  place: number;
}
