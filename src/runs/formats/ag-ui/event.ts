import type { Json, JsonObject } from '../../../agent/context/message.ts';
import type { AgUiMessage, AgUiPart } from './message.ts';

/** The version of the protocol that these events follow. */
export const protocolVersion = '1.0';

/** Facts of Lanefold that the protocol has no field for. */
export interface AgUiMetadata {
  lanefold: JsonObject;
}

/** Tokens of one model. Cached input tokens are part of the input, reasoning tokens part of the output. */
export interface AgUiUsage {
  provider?: string;
  model?: string;
  inputTokens: number;
  outputTokens: number;
  totalTokens: number;
  reasoningTokens?: number;
  cachedInputTokens?: number;
  cacheWriteInputTokens?: number;
}

/** A tool call that waits for a person. A `resume` entry of the next request answers it by its id. */
export interface AgUiInterrupt {
  id: string;
  /** `tool_call`: an approval. `input_required`: an event, or the result of a tool that the client runs. */
  reason: 'tool_call' | 'input_required';
  message: string;
  toolCallId?: string;
  /** A JSON Schema of the payload. */
  responseSchema: JsonObject;
  expiresAt?: string;
  metadata: AgUiMetadata;
}

export type AgUiOutcome =
  | { type: 'success'; pendingToolCallIds?: string[] }
  | { type: 'interrupt'; interrupts: AgUiInterrupt[] }
  | { type: 'cancelled' };

/** An operation of a JSON Patch. */
export type PatchOperation = { op: 'add' | 'replace'; path: string; value: Json } | { op: 'remove'; path: string };

/** The events of AG-UI 1.0 that Lanefold sends. */
export type AgUiEvent =
  | { type: 'RUN_STARTED'; threadId: string; runId: string; protocolVersion: string; metadata?: AgUiMetadata }
  | {
      type: 'RUN_FINISHED';
      threadId: string;
      runId: string;
      outcome: AgUiOutcome;
      result?: Json;
      usage?: AgUiUsage[];
      metadata?: AgUiMetadata;
    }
  | { type: 'RUN_ERROR'; message: string; code: string; usage?: AgUiUsage[]; metadata?: AgUiMetadata }
  | { type: 'STEP_STARTED' | 'STEP_FINISHED'; stepName: string }
  | { type: 'TEXT_MESSAGE_START'; messageId: string; role: 'assistant' | 'user' }
  | { type: 'TEXT_MESSAGE_CONTENT' | 'REASONING_MESSAGE_CONTENT'; messageId: string; delta: string }
  | { type: 'TEXT_MESSAGE_END' | 'REASONING_START' | 'REASONING_MESSAGE_END' | 'REASONING_END'; messageId: string }
  | { type: 'REASONING_MESSAGE_START'; messageId: string; role: 'reasoning' }
  | { type: 'TOOL_CALL_START'; toolCallId: string; toolCallName: string; parentMessageId: string }
  | { type: 'TOOL_CALL_ARGS'; toolCallId: string; delta: string }
  | { type: 'TOOL_CALL_END'; toolCallId: string }
  | { type: 'TOOL_CALL_RESULT'; messageId: string; toolCallId: string; role: 'tool'; content: string | AgUiPart[] }
  | { type: 'STATE_SNAPSHOT'; snapshot: JsonObject }
  | { type: 'STATE_DELTA'; delta: PatchOperation[] }
  | { type: 'MESSAGES_SNAPSHOT'; messages: AgUiMessage[] }
  | { type: 'ACTIVITY_SNAPSHOT'; messageId: string; activityType: string; content: JsonObject }
  | { type: 'ACTIVITY_DELTA'; messageId: string; activityType: string; patch: PatchOperation[] }
  | {
      type: 'SUBAGENT_STARTED';
      subagentRunId: string;
      name: string;
      parentToolCallId?: string;
      parentMessageId?: string;
    }
  | { type: 'SUBAGENT_FINISHED'; subagentRunId: string; outcome: { type: 'success' | 'suspended' } }
  | { type: 'SUBAGENT_ERROR'; subagentRunId: string; message: string; code: string }
  | { type: 'CUSTOM'; name: string; value: Json };
