import type { Json } from '../../../agent/context/message.ts';

/** The metadata of an answer: facts about its run. */
export interface AnswerMetadata {
  thread_id: string;
  run_id: string;
  usage?: Json;
  /** Set for a completed run: `final_answer`, or a limit such as `max_iterations`, which ended it without an answer. */
  termination_reason?: string;
  /** The answer was cut: at the limit of output tokens, or by a filter of the provider. */
  truncated?: true;
  /** Set for a failed or cancelled run. */
  error?: { type: string; message: string };
}

export interface UiTextPart {
  type: 'text';
  text: string;
  state?: 'done';
}

export interface UiReasoningPart {
  type: 'reasoning';
  id?: string;
  text: string;
  state: 'done';
}

export interface UiFilePart {
  type: 'file';
  mediaType: string;
  /** A data URL, or the URL of the file. */
  url: string;
  filename?: string;
}

/** A decision on a call; approval responses refer to it by `id`. */
export interface UiApproval<APPROVED extends boolean> {
  id: string;
  approved: APPROVED;
  reason?: string;
}

/** A tool call with its state, under the AI SDK's names. */
export type UiToolPart = { type: `tool-${string}`; toolCallId: string; input: Json } & (
  | { state: 'input-available' }
  | { state: 'approval-requested'; approval: { id: string } }
  | { state: 'approval-responded'; approval: UiApproval<boolean> }
  | { state: 'output-available'; output: Json; approval?: UiApproval<true> }
  | { state: 'output-error'; errorText: string; approval?: UiApproval<true> }
  | { state: 'output-denied'; approval: UiApproval<false> }
);

/** Input that steered the run. */
export interface UiSteeringPart {
  type: 'steering-message';
  id: string;
  parts: (UiTextPart | UiFilePart)[];
}

export type UiPart = UiTextPart | UiReasoningPart | UiFilePart | UiToolPart | UiSteeringPart | { type: 'step-start' };

/** A `UIMessage` of the AI SDK. Each run is one message of the role `assistant`, with the id of the run. */
export interface UiMessage {
  id: string;
  role: 'user' | 'assistant';
  /** Set on a run's answer. */
  metadata?: AnswerMetadata;
  parts: UiPart[];
}

/** A chunk of the AI SDK's UI message stream. */
export type UiChunk = { type: string } & Record<string, unknown>;

const unasked = '.input';

/** The id of a run's question is its request's id; the id of its answer is the run's own id. */
export const questionId = (runId: string, requestId: string | null): string =>
  requestId === null || requestId === runId ? runId + unasked : requestId;

/** The ids that the request of a question may have. */
export const requestIdsOf = (messageId: string): string[] =>
  messageId.endsWith(unasked) ? [messageId, messageId.slice(0, -unasked.length)] : [messageId];
