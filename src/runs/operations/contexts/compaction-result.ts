import type { JsonObject } from '../../../agent/context/message.ts';
import type { CompactionRequest } from '../../../agent/strategies/records.ts';
import type { RunHandle } from '../../../database/store/run/run.ts';

/** The result of a compaction run; the run's result is null if there was nothing to summarise. */
export interface CompactionResult {
  op_id: string;
  /** The first and last entry of the summarised messages, and how many messages. */
  covered: [from: number, to: number];
  messages: number;
  cause: CompactionRequest['cause'];
  model: string;
  run_id: string;
  usage: JsonObject;
  prompt_version: number;
  /** Size of the context, counted by the heuristic. */
  tokens_before: number;
  tokens_after: number;
}

/** The compaction run of a lane. */
export type CompactionHandle = RunHandle<CompactionResult | null>;
