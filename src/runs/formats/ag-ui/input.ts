import { z } from 'zod';
import type { Json } from '../../../agent/context/message.ts';
import { idGrammar } from '../../../base/checks/ids.ts';
import type { AgUiMessage } from './message.ts';

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
