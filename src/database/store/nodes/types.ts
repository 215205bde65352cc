// Generated from declaration.ts beside it: run `npm run types:api`.

import type { Usage } from '../../../agent/context/message.ts';
import type { Json } from '../../../agent/context/message.ts';

/** A finding of a strategy: a thought, or the answer to a question that the strategy asked. */
export interface RunNode {
  /** Number of the node, from 1, in the order of creation. */
  node: number;
  /** The node from which this node follows; 0 is the question of the run. */
  parent: number | null;
  /** Only if the strategy builds a tree. */
  depth: number | null;
  /** For an answer, what was asked for, such as `generate`; otherwise `thought`, or the strategy’s name for it. */
  kind: string;
  /** For an answer, `answered` or `tools`; for a thought, `open`, `expanded` or `best`. */
  status: string;
  /** From 0 to 1, if the strategy scores. */
  score: number | null;
  content: string | null;
  /** For an answer, its model call. */
  callId: string | null;
  /** For an answer, its token counters; otherwise null. */
  usage: Usage | null;
  /** For an answer, when it arrived: milliseconds since the run started. */
  elapsedMs: number | null;
  /** For an answer, its tool rounds; otherwise notes of the strategy. */
  data: Json;
}
