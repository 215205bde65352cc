import type { Json, JsonObject, ToolCall, Usage } from '../context/message.ts';

/** A node as a step adds or changes it: the answer to a question, or what the strategy made of answers. */
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
  /** Added to what the node has, key by key. `rounds` are the tool rounds of an answer. */
  data?: JsonObject;
  /** Of an answer: the number of its model call. */
  callNo?: number;
  usage?: Usage;
  elapsedMs?: number;
}

/** A node after a draft that completes or changes it. */
export const changedNode = (before: StrategyNode | undefined, draft: StrategyNode): StrategyNode => ({
  ...before,
  ...draft,
  ...(before?.data && draft.data ? { data: { ...before.data, ...draft.data } } : {}),
});

/** An answer as a later claim finds it: all that a strategy needs to continue is in them. */
export interface StoredAnswer {
  node: number;
  /** What the question was asked for. */
  kind: string;
  /** `tools` while the model still calls tools, `answered` afterwards. */
  status: 'tools' | 'answered';
  content: string | null;
  usage: Usage;
  elapsedMs: number;
  /** The tool rounds on the way to the answer. */
  rounds: AnsweredRound[];
}

/** An assistant message with tool calls, as the log has it, and the messages of their results. */
export interface AnsweredRound {
  assistant: { content: string; tool_calls: ToolCall[]; [key: string]: Json | ToolCall[] };
  results?: { content: string; tool_call_id: string; name: string }[];
  /** The round has not started, as answers of the batch or another round come first: what its entry in the log will need. */
  waiting?: { refs: JsonObject; tools?: string[] };
}
