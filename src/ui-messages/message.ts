import type { Json } from '../context/message.ts';

/** What the metadata of an answer says about its run. */
export interface AnswerMetadata {
  thread_id: string;
  run_id: string;
  usage?: Json;
  /** Of a completed run: `final_answer`, or a limit such as `max_iterations`, at which it has no answer. */
  termination_reason?: string;
  /** Of a failed or cancelled run. */
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
  /** A data URL, or where the file is. */
  url: string;
  filename?: string;
}

/** A decision on a call: `id` names it in an approval response. */
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
  /** Of the answer of a run. */
  metadata?: AnswerMetadata;
  parts: UiPart[];
}

/** A chunk of the AI SDK's UI message stream. */
export type UiChunk = { type: string } & Record<string, unknown>;

/** The ids of a run's messages: its question has the id of its request, and its answer its own. */
export const questionId = (runId: string, requestId: string | null): string =>
  requestId === null || requestId === runId ? `${runId}.input` : requestId;

/** The name of a tool call in the HTTP API, `/tool-calls/{round}.{index}/approve`, and in approval responses. */
export const approvalId = (round: unknown, index: unknown): string => `${String(round)}.${String(index)}`;
