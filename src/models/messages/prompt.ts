import type { LanguageModelV4Message, LanguageModelV4Prompt, LanguageModelV4ToolResultPart } from '@ai-sdk/provider';
import type { Message } from '../../context/message.ts';
import { toAssistantParts, toSentName } from './assistant-parts.ts';
import { toParts, toText } from './parts.ts';
import { toProviderOptions } from './reasoning.ts';

/** Converts a context to a provider prompt message by message, so that a long run converts each message only once. */
export interface PromptBuilder {
  /** Appends a message. @throws LanefoldError `invalid_input` for a content part that no model accepts */
  push(message: Message): void;
  /** The prompt so far; later pushes do not modify it. */
  readonly prompt: LanguageModelV4Prompt;
}

/**
 * Creates an empty builder. The prompt depends on the messages alone: the same messages give the same JSON bytes.
 *
 * Consecutive tool messages become one, because providers expect all results of a turn together. An assistant
 * message that says nothing (a blank final answer) is left out, because providers refuse it.
 */
export function createPromptBuilder(): PromptBuilder {
  const messages: LanguageModelV4Prompt = [];
  const toolNames = new Map<string, string>();

  const pushToolResult = (message: Message) => {
    const result = toToolResult(message, toolNames);
    const last = messages.at(-1);
    // Prompts already returned share these message objects, so replace the last one instead of modifying it.
    if (last?.role === 'tool') messages[messages.length - 1] = { ...last, content: [...last.content, result] };
    else messages.push({ role: 'tool', content: [result] });
  };

  return {
    push(message) {
      if (message.role === 'tool') return pushToolResult(message);
      for (const call of message.tool_calls ?? []) toolNames.set(call.id, call.name);
      const mapped = toPromptMessage(message);
      if (mapped.content.length > 0 || mapped.role !== 'assistant') messages.push(mapped);
    },
    get prompt() {
      return [...messages];
    },
  };
}

/** The prompt of a whole context, the system message first if there is one. */
export function toPrompt(messages: Iterable<Message>): LanguageModelV4Prompt {
  const builder = createPromptBuilder();
  for (const message of messages) builder.push(message);
  return builder.prompt;
}

function toPromptMessage(message: Message): LanguageModelV4Message {
  const options = toProviderOptions(message.provider_metadata);
  if (message.role === 'system') return { role: 'system', content: toText(message.content), ...options };
  if (message.role === 'user') return { role: 'user', content: toParts(message.content), ...options };
  return { role: 'assistant', content: toAssistantParts(message) };
}

function toToolResult(message: Message, toolNames: Map<string, string>): LanguageModelV4ToolResultPart {
  const id = message.tool_call_id ?? '';
  const { content } = message;
  return {
    type: 'tool-result',
    toolCallId: id,
    toolName: toSentName(message.name ?? toolNames.get(id) ?? 'unknown'),
    // Error envelopes are sent as text too: some providers reword `error-text`, and the bytes must not change.
    output:
      typeof content === 'string' ? { type: 'text', value: content } : { type: 'content', value: toParts(content) },
    ...toProviderOptions(message.provider_metadata),
  };
}
