import type { Json, ContentPart } from '../../../agent/context/message.ts';
import { maxDepth, parseJson } from '../../../base/common/json.ts';
import { LanefoldError } from '../../../base/errors.ts';

/** The metadata of a message: for an answer, facts about its run. */
export interface AnswerMetadata {
  /** Set on a run's answer. */
  thread_id?: string;
  run_id?: string;
  usage?: Json;
  /** Set for a completed run: `final_answer`, or a limit such as `max_iterations`, which ended it without an answer. */
  termination_reason?: string;
  /** The answer was cut: at the limit of output tokens, or by a filter of the provider. */
  truncated?: true;
  /** Set for a failed or cancelled run. */
  error?: { type: string; message: string };
  /**
   * Set where other branches have another message here, as the conversation has it: `place` among them, from 1, and a lane
   * of each of them, to show with `contexts.switch`.
   */
  versions?: { place: number; lanes: string[] };
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

export const textOrJson = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** A tool result as the tool returned it: JSON is parsed, other text stays text. */
export function toOutput(content: Json): Json {
  if (typeof content !== 'string') return content;
  try {
    return parseJson(content, maxDepth) as Json;
  } catch {
    return content;
  }
}

/** The text of an error result. */
export function toErrorText(content: Json): string {
  const { error } = Object(toOutput(content)) as { error?: { message?: string } };
  return error?.message ?? textOrJson(content);
}

/** The content of a stored user message. */
export const toContentParts = (content: Json): (UiTextPart | UiFilePart)[] =>
  Array.isArray(content)
    ? (content as unknown as ContentPart[]).map(toContentPart)
    : [{ type: 'text', text: textOrJson(content) }];

function toContentPart(part: ContentPart): UiTextPart | UiFilePart {
  const { type, text, media_type, data, url, filename } = part as Record<string, Json | undefined>;
  if (type !== 'file') return { type: 'text', text: textOrJson(text ?? (part as Json)) };
  const mediaType = textOrJson(media_type ?? 'application/octet-stream');
  return {
    type: 'file',
    mediaType,
    url: data === undefined ? textOrJson(url ?? '') : `data:${mediaType};base64,${textOrJson(data)}`,
    ...(typeof filename === 'string' ? { filename } : {}),
  };
}

/** Ids of tool calls within one message: a model may reuse an id, but here each must be unique. */
export class UniqueIds {
  readonly #used = new Set<string>();

  shown(id: string): string {
    let shown = id;
    for (let n = 2; this.#used.has(shown); n++) shown = `${id}#${n}`;
    this.#used.add(shown);
    return shown;
  }
}

/**
 * Converts a user message of the AI SDK to a run's input. @throws LanefoldError `invalid_input` for parts no model
 * takes
 */
export function toInput(parts: unknown): string | ContentPart[] {
  if (!Array.isArray(parts)) throw invalid('has no parts');
  const content = parts.map(toQuestionPart);
  const [first] = content;
  return content.length === 1 && first!.type === 'text' ? (first as { text: string }).text : content;
}

function toQuestionPart(part: unknown): ContentPart {
  const { type, text, mediaType, url, filename } = Object(part) as Record<string, unknown>;
  if (type === 'text' && typeof text === 'string') return { type, text };
  if (type === 'file' && typeof mediaType === 'string' && typeof url === 'string')
    return { type, media_type: mediaType, url, ...(typeof filename === 'string' ? { filename } : {}) };
  throw invalid(`has a part that is neither text nor a file: ${JSON.stringify(type)?.slice(0, 80)}`);
}

const invalid = (what: string): LanefoldError =>
  new LanefoldError('invalid_input', `The message ${what}.`, {
    hint: 'Send { id, role: "user", parts: [{ type: "text", text }] }, as the AI SDK does.',
  });
