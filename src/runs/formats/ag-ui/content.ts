import type { ContentPart, Json, JsonObject } from '../../../agent/context/message.ts';
import { LanefoldError } from '../../../base/errors.ts';
import type { ContentInput } from '../../../agent/models/accept-content.ts';
import { textOrJson } from '../ui-messages/message.ts';
import type { AgUiPart, AgUiUserMessage, AgUiMessage } from './event.ts';
import { z } from 'zod';
import { idGrammar } from '../../../base/checks/ids.ts';

type Fields = Record<string, Json | undefined>;

/** Content of the log as the protocol has it. */
export const toAgUiContent = (content: Json | undefined): string | AgUiPart[] =>
  Array.isArray(content) ? content.map(toPart) : textOrJson(content ?? '');

function toPart(part: Json): AgUiPart {
  const { type, text, media_type: mediaType, data, url } = Object(part) as Fields;
  if (type !== 'file') return { type: 'text', text: textOrJson(text ?? part) };
  const mimeType = textOrJson(mediaType ?? 'application/octet-stream');
  const [kind] = mimeType.split('/');
  return {
    type: kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'document',
    source:
      data === undefined
        ? { type: 'url', value: textOrJson(url ?? ''), mimeType }
        : { type: 'data', value: textOrJson(data), mimeType },
  };
}

/** A client's user message as the input of a run. @throws LanefoldError `invalid_input` */
function toInput(content: AgUiUserMessage['content']): ContentInput {
  if (typeof content === 'string') return content;
  const parts = content.map(toContentPart);
  const [first] = parts;
  return parts.length === 1 && first!.type === 'text' ? (first as { text: string }).text : parts;
}

function toContentPart(part: AgUiPart): Exclude<ContentInput, string>[number] {
  if (part.type === 'text') return { type: 'text', text: part.text };
  const { type: from, value, mimeType } = part.source;
  if (from === 'file') {
    throw new LanefoldError('invalid_input', `The ${part.type} is a handle of a provider, which only it can read.`, {
      hint: 'Nothing was written. Send the bytes, or a URL.',
    });
  }
  if (mimeType !== undefined) return { type: 'file', media_type: mimeType, [from]: value };
  return part.type === 'image' ? { type: 'image', image: value } : { type: 'file', url: value };
}

/** What the log keeps of a client's message besides its content, in `refs.ag_ui`. */
interface MessageRefs extends JsonObject {
  message_id: string;
}

interface QuestionRefs extends MessageRefs {
  /** How many parts at the end are the context that the application has sent along. */
  context_parts: number;
}

/** The refs of a message to which a client gave the id. */
export const refsOf = <REFS extends MessageRefs>(refs: REFS): { ag_ui: REFS } => ({ ag_ui: refs });

/** The id that a client gave a message; undefined if no client wrote it. @param refs of the entry */
export function clientIdIn(refs: JsonObject | null | undefined): string | undefined {
  const { message_id: id } = Object(refs?.['ag_ui']) as Partial<MessageRefs>;
  return typeof id === 'string' ? id : undefined;
}

/** A question as the run gets it: the user's message, then what the application says about the situation. */
export function toQuestion(
  { id, content }: AgUiUserMessage,
  context: readonly { description: string; value: string }[] = [],
): { input: ContentInput; extraRefs: { ag_ui: QuestionRefs } } {
  const asked = toInput(content);
  const said = context.map(({ description, value }) => ({ type: 'text', text: `${description}:\n${value}` }) as const);
  const parts = typeof asked === 'string' ? [{ type: 'text', text: asked } as const] : asked;
  return {
    input: said.length > 0 ? [...parts, ...said] : asked,
    extraRefs: refsOf({ message_id: id, context_parts: said.length }),
  };
}

/** The client's own message again, under this id. @param refs of the entry */
export function fromQuestion(content: Json | undefined, refs: JsonObject, id: string): AgUiUserMessage {
  const { context_parts: more } = Object(refs['ag_ui']) as Partial<QuestionRefs>;
  const parts = Array.isArray(content) && more ? content.slice(0, -more) : content;
  const [first] = Array.isArray(parts) ? (parts as ContentPart[]) : [];
  // the text was a string before the context was put beside it
  const alone = more && Array.isArray(parts) && parts.length === 1 && first!.type === 'text';
  return { id, role: 'user', content: toAgUiContent(alone ? (first as { text: string }).text : parts) };
}

/** The client's answer to an interrupt. */
export interface AgUiResume {
  interruptId: string;
  status: 'resolved' | 'cancelled';
  /** The answer; for an approval `{ approved, reason? }`. */
  payload?: Json | undefined;
}

/** The body of a request of AG-UI 1.0, `RunAgentInput`. */
export interface AgUiInput {
  threadId: string;
  /** The client's name for this exchange. Repeating it follows the run that it began. */
  runId: string;
  /** The conversation as the client has it. A new user message at its end is asked; the log has the rest. */
  messages: AgUiMessage[];
  /** Tools that the client runs. The agent uses those that it has as a `clientTool`; the others are ignored. */
  tools: { name: string; description: string; parameters?: Json | undefined }[];
  /** What the application says about the situation; it becomes part of the user's message. */
  context: { description: string; value: string }[];
  state?: Json | undefined;
  forwardedProps?: Json | undefined;
  resume?: AgUiResume[] | undefined;
  parentRunId?: string | undefined;
  protocolVersion?: string | undefined;
}

const text = z.string();
const id = text.min(1).max(512);
/** Any JSON but null, which the protocol writes as an absent field. */
const json = z.any().refine((value) => value !== null, 'Must not be null.');
const tagged = { name: text.optional(), metadata: z.record(text, z.any()).optional() };
const source = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('data'), value: text, mimeType: text }),
  z.looseObject({ type: z.literal('url'), value: text, mimeType: text.optional() }),
  z.looseObject({ type: z.literal('file'), value: text, provider: text.optional(), mimeType: text.optional() }),
]);
const part = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text'), text }),
  ...(['image', 'audio', 'video', 'document'] as const).map((type) => z.looseObject({ type: z.literal(type), source })),
] as never) as z.ZodType<Exclude<Extract<AgUiMessage, { role: 'user' }>['content'], string>[number]>;
const content = z.union([z.array(part), text]);
const call = z.looseObject({
  id: text,
  type: z.literal('function'),
  function: z.looseObject({ name: text, arguments: text }),
});

const message = z.discriminatedUnion('role', [
  z.looseObject({ id, role: z.literal('user'), content, ...tagged }),
  z.looseObject({
    id,
    role: z.literal('assistant'),
    content: text.optional(),
    toolCalls: z.array(call).optional(),
    ...tagged,
  }),
  z.looseObject({ id, role: z.literal('tool'), toolCallId: text, content, error: text.optional() }),
  z.looseObject({ id, role: z.literal('reasoning'), content: text }),
  z.looseObject({ id, role: z.literal('system'), content: text, ...tagged }),
  z.looseObject({ id, role: z.literal('developer'), content: text, ...tagged }),
  z.looseObject({ id, role: z.literal('activity'), activityType: text, content: z.record(text, z.any()) }),
]);

/** Checks a request. Fields that it does not know may belong to a later version of the protocol, and are ignored. */
export const runAgentInput = z.looseObject({
  threadId: text.regex(idGrammar, 'Use 1 to 128 characters of [A-Za-z0-9._:@-], starting with a letter or digit.'),
  runId: id,
  parentRunId: text.optional(),
  protocolVersion: text.optional(),
  messages: z.array(message).max(100_000),
  tools: z
    .array(z.looseObject({ name: text, description: text, parameters: json.optional() }))
    .max(1_000)
    .default([]),
  context: z
    .array(z.looseObject({ description: text, value: text }))
    .max(1_000)
    .default([]),
  state: z.any().optional(),
  forwardedProps: json.optional(),
  resume: z
    .array(
      z.looseObject({
        interruptId: text.max(512),
        status: z.enum(['resolved', 'cancelled']),
        payload: json.optional(),
      }),
    )
    .max(1_000)
    .optional(),
}) satisfies z.ZodType<AgUiInput>;
