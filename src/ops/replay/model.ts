import type {
  LanguageModelV4,
  LanguageModelV4GenerateResult,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  LanguageModelV4Message,
} from '@ai-sdk/provider';
import { ModelError } from '../../agent/models/model-error.ts';
import { firstDifference, toComparable, type Comparable, type Difference, canonical } from './compare.ts';
import type { RecordedMessage } from './messages.ts';
import { toPrompt } from '../../agent/models/prompt.ts';
import type { Conversation } from './recording.ts';
import type { Message } from '../../agent/context/message.ts';

const asSent = (message: RecordedMessage): Comparable =>
  message.role === 'user' ? fromPrompt(toPrompt([message]))[0]! : toComparable(message);

/**
 * A model that plays the recorded assistant of one conversation. It derives its position from the prompt alone, so a
 * resumed run gets the same turn again. It compares each prompt with the recorded messages before that turn, reports
 * any difference, and answers as recorded either way.
 */
export function createReplayModel(
  conversation: Conversation,
  onDifference: (difference: Difference) => void,
): LanguageModelV4 {
  const { messages } = conversation;
  const sent = messages.flatMap((message, index) =>
    isBlankMessage(message) ? [] : [{ index, message: asSent(message) }],
  );

  /** The turn that follows as many messages as were received, or else the one that follows as many turns. */
  const placeOf = (received: Comparable[]): number | undefined => {
    const next = (sent[received.length - 1]?.index ?? messages.length) + 1;
    if (messages[next]?.role === 'assistant') return next;
    const turns = received.filter((message) => message.role === 'assistant').length;
    return sent.filter(({ message }) => message.role === 'assistant')[turns]?.index;
  };

  const answer = (prompt: LanguageModelV4Prompt): LanguageModelV4GenerateResult => {
    const received = fromPrompt(prompt);
    const place = placeOf(received);
    const before = sent.filter(({ index }) => index < (place ?? messages.length));
    const difference = firstDifference(before, received);
    if (difference) onDifference(difference);
    if (place === undefined)
      throw new ModelError('The recording has no turn for this context.', {
        errorType: 'llm_request',
        retryable: false,
      });
    return toResult(messages[place] as Turn);
  };

  return {
    specificationVersion: 'v4',
    provider: 'replay',
    modelId: String(conversation.index),
    supportedUrls: {},
    doGenerate: async ({ prompt }) => answer(prompt),
    doStream: async ({ prompt }) => ({ stream: streamOf(answer(prompt)) }),
  };
}

type Turn = Extract<RecordedMessage, { role: 'assistant' }>;

function toResult({ content, calls }: Turn): LanguageModelV4GenerateResult {
  const reason = calls.length > 0 ? 'tool-calls' : 'stop';
  return {
    content: [
      ...(content ? [{ type: 'text' as const, text: content }] : []),
      ...calls.map((call) => ({
        type: 'tool-call' as const,
        toolCallId: call.id,
        toolName: call.name,
        input: call.arguments,
      })),
    ],
    finishReason: { unified: reason, raw: reason },
    // Recordings contain no usage.
    usage: {
      inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: undefined, text: undefined, reasoning: undefined },
    },
    warnings: [],
  };
}

function streamOf({ content, finishReason, usage }: LanguageModelV4GenerateResult) {
  return new ReadableStream<LanguageModelV4StreamPart>({
    start(controller) {
      controller.enqueue({ type: 'stream-start', warnings: [] });
      for (const part of content) {
        if (part.type === 'tool-call') controller.enqueue(part);
        if (part.type !== 'text') continue;
        controller.enqueue({ type: 'text-start', id: '0' });
        controller.enqueue({ type: 'text-delta', id: '0', delta: part.text });
        controller.enqueue({ type: 'text-end', id: '0' });
      }
      controller.enqueue({ type: 'finish', finishReason, usage });
      controller.close();
    },
  });
}

/** The messages of a provider prompt, with one message per tool result: a prompt combines the results of a round. */
function fromPrompt(prompt: LanguageModelV4Prompt): Comparable[] {
  return prompt.flatMap((message) => (message.role === 'tool' ? message.content.map(fromResult) : [fromOne(message)]));
}

function fromOne(message: Exclude<LanguageModelV4Message, { role: 'tool' }>): Comparable {
  if (message.role === 'system') return { role: 'system', content: message.content, calls: [] };
  return {
    role: message.role,
    content: message.role === 'user' ? said(message.content) : message.content.map(toText).join(''),
    calls: (message.role === 'assistant' ? message.content : []).flatMap((part) =>
      part.type === 'tool-call' ? [{ id: part.toolCallId, name: part.toolName, arguments: canonical(part.input) }] : [],
    ),
  };
}

/** A user's message as one string: several parts, or an image, as JSON. */
function said(content: Extract<LanguageModelV4Message, { role: 'user' }>['content']): string {
  const [first] = content;
  return content.length === 1 && first?.type === 'text' ? first.text : canonical(content);
}

type Part = Exclude<LanguageModelV4Message['content'], string>[number];

// Recorded answers contain only text, so any other part must show up as a difference.
const toText = (part: Part): string =>
  part.type === 'text' ? part.text : part.type === 'tool-call' ? '' : canonical(part);

type ToolPart = Extract<LanguageModelV4Message, { role: 'tool' }>['content'][number];

function fromResult(part: ToolPart): Comparable {
  if (part.type !== 'tool-result') return { role: 'tool', content: canonical(part), calls: [] };
  const { output } = part;
  return {
    role: 'tool',
    content: output.type === 'text' ? output.value : canonical(output),
    calls: [],
    toolCallId: part.toolCallId,
    name: part.toolName,
  };
}

/** One user message and the turns that answer it. Indices refer to the recorded messages. */
export interface ReplayedRun {
  /** The user message; the request id of the run is derived from it. */
  user: number;
  input: Message['content'];
  /** The assistant turns, in order; empty if the message was never answered. */
  turns: number[];
  /** `final_answer`, or `max_iterations` if the recording ends with tool messages. */
  ends: 'final_answer' | 'max_iterations';
}

/** Splits a conversation at its user messages. */
export function runsIn({ messages }: Conversation): ReplayedRun[] {
  const runs: ReplayedRun[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === 'user') runs.push({ user: index, input: message.content, turns: [], ends: 'final_answer' });
    if (message.role !== 'assistant') continue;
    const run = runs.at(-1)!;
    run.turns.push(index);
    run.ends = message.calls.length > 0 ? 'max_iterations' : 'final_answer';
  }
  return runs;
}

export const systemPromptOf = ({ messages }: Conversation): string | undefined =>
  messages[0]?.role === 'system' ? messages[0].content : undefined;

/** A blank answer. It is stored, but prompts leave it out because providers reject empty messages. */
const isBlankMessage = (message: RecordedMessage): boolean =>
  message.role === 'assistant' && !message.content && message.calls.length === 0;
