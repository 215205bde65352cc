import type { AnswerCut } from '../context/cut.ts';
import type { Json, JsonObject, ToolCall, Usage } from '../context/message.ts';

/** A node that a step adds or changes: the answer to a question, or something the strategy derived from answers. */
export interface StrategyNode {
  /** From 1; 0 is the question of the run, which has no row. */
  node: number;
  status: string;
  /** Default `thought`. */
  kind?: string;
  parent?: number;
  depth?: number;
  score?: number;
  content?: string;
  /** Merged into the existing data, key by key. `rounds` are the tool rounds of an answer. */
  data?: JsonObject;
  /** The number of the model call, for an answer. */
  callNo?: number;
  usage?: Usage;
  elapsedMs?: number;
}

/** The node after applying a draft to it. */
export const changedNode = (before: StrategyNode | undefined, draft: StrategyNode): StrategyNode => ({
  ...before,
  ...draft,
  ...(before?.data && draft.data ? { data: { ...before.data, ...draft.data } } : {}),
});

/** An answer as a later claim returns it, with all that a strategy needs to continue. */
export interface StoredAnswer {
  node: number;
  /** The purpose of the question. */
  kind: string;
  /** `tools` while the model still calls tools, `answered` afterwards. */
  status: 'tools' | 'answered';
  content: string | null;
  usage: Usage;
  elapsedMs: number;
  /** The tool rounds it took to get the answer. */
  rounds: AnsweredRound[];
}

/** An assistant message with tool calls, as logged, and the messages with their results. */
export interface AnsweredRound {
  assistant: { content: string; tool_calls: ToolCall[]; [key: string]: Json | ToolCall[] };
  results?: { content: string; tool_call_id: string; name: string }[];
  /** Set while the round waits for other answers of the batch or for another round: what its log entry will need. */
  waiting?: { refs: JsonObject; tools?: string[]; cut?: AnswerCut };
}
