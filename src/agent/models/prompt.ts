import type { LanguageModelV4Message, LanguageModelV4Prompt, LanguageModelV4ToolResultPart } from '@ai-sdk/provider';
import type { Message } from '../context/message.ts';
import { Acceptable, type SentAs, dialects, type Dialect } from './acceptable-prompt.ts';
import { toAssistantParts, toSaidParts, toText, toProviderOptions } from './parts.ts';

/** Converts a context to a provider prompt message by message, so that a long run converts each message only once. */
export interface PromptBuilder {
  /**
   * Appends a message. Returns what is sent of it, usually the message itself.
   *
   * @throws LanefoldError `invalid_input` for a content part that no model accepts
   */
  push(message: Message): Message[];
  /** The prompt so far; later pushes do not modify it. */
  readonly prompt: LanguageModelV4Prompt;
  /** How the messages sent so far differ from those pushed; undefined while they do not. */
  readonly sentAs: SentAs | undefined;
}

/**
 * Creates an empty builder. The prompt depends on the messages and the dialect alone: the same messages give the same
 * JSON bytes.
 *
 * Consecutive tool messages become one, because providers expect all results of a turn together. An assistant
 * message that says nothing (a blank final answer) is left out, because providers refuse it.
 */
export function createPromptBuilder(dialect: Dialect = dialects.openai): PromptBuilder {
  const messages: LanguageModelV4Prompt = [];
  const toolNames = new Map<string, string>();
  const form = new Acceptable(dialect);

  const pushSent = (message: Message) => {
    if (message.role === 'tool') return append({ role: 'tool', content: [toToolResult(message, toolNames)] });
    for (const call of message.tool_calls ?? []) toolNames.set(call.id, call.name);
    const mapped = toPromptMessage(message, dialect);
    if (mapped.content.length > 0 || mapped.role !== 'assistant') append(mapped);
  };

  const append = (message: LanguageModelV4Message) => {
    const last = messages.at(-1);
    // Gemini refuses a call right after another answer
    const joins = message.role === 'tool' || (message.role === 'assistant' && dialect.name === 'google');
    // Prompts already returned share these message objects, so replace the last one instead of modifying it.
    if (joins && last?.role === message.role)
      messages[messages.length - 1] = { ...last, content: [...last.content, ...message.content] } as typeof message;
    else messages.push(message);
  };

  return {
    push(message) {
      const sent = form.push(message);
      for (const own of sent) pushSent(own);
      return sent;
    },
    get prompt() {
      return [...messages];
    },
    get sentAs() {
      return form.sentAs;
    },
  };
}

/** The prompt of a whole context, the system message first if there is one. */
export function toPrompt(messages: Iterable<Message>, dialect?: Dialect): LanguageModelV4Prompt {
  const builder = createPromptBuilder(dialect);
  for (const message of messages) builder.push(message);
  return builder.prompt;
}

function toPromptMessage(message: Message, dialect: Dialect): LanguageModelV4Message {
  const options = toProviderOptions(message.provider_metadata);
  if (message.role === 'system') return { role: 'system', content: toText(message.content), ...options };
  if (message.role === 'user') return { role: 'user', content: toSaidParts(message.content), ...options };
  return { role: 'assistant', content: toAssistantParts(message, dialect) };
}

function toToolResult(message: Message, toolNames: Map<string, string>): LanguageModelV4ToolResultPart {
  const id = message.tool_call_id ?? '';
  const { content } = message;
  return {
    type: 'tool-result',
    toolCallId: id,
    toolName: message.name ?? toolNames.get(id) ?? 'unknown',
    // Error envelopes are sent as text too: some providers reword `error-text`, and the bytes must not change.
    output:
      typeof content === 'string' ? { type: 'text', value: content } : { type: 'content', value: toSaidParts(content) },
    ...toProviderOptions(message.provider_metadata),
  };
}
