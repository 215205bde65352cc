import type { LanguageModelV4Message, LanguageModelV4Prompt, LanguageModelV4ToolResultPart } from '@ai-sdk/provider';
import type { Message } from '../../context/message.ts';
import { toAssistantParts } from './assistant-parts.ts';
import { toParts, toText } from './parts.ts';
import { toProviderOptions } from './reasoning.ts';

/** Maps a context to a provider prompt message by message, so that a long run maps each message once. */
export interface PromptBuilder {
  /** Appends a message; raises `invalid_input` for a content part no model takes. */
  push(message: Message): void;
  /** The prompt so far. Later pushes do not change it. */
  readonly prompt: LanguageModelV4Prompt;
}

/**
 * An empty builder. The mapping is a pure function of the messages: the same messages give the same JSON bytes.
 *
 * Consecutive tool messages become one tool message, as providers want all results of a turn together. An assistant
 * message with nothing in it (a blank final answer) is left out: Anthropic and Google refuse empty messages.
 */
export function createPromptBuilder(): PromptBuilder {
  const messages: LanguageModelV4Prompt = [];
  const toolNames = new Map<string, string>();

  const pushToolResult = (message: Message) => {
    const result = toToolResult(message, toolNames);
    const last = messages.at(-1);
    // A handed-out prompt shares its messages with us, so the last one is replaced, not changed.
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

/** The prompt of a whole context (system message first, if it has one). */
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
    toolName: message.name ?? toolNames.get(id) ?? 'unknown',
    // Error envelopes go as text too: `error-text` is reworded by some providers, and bytes must stay ours.
    output:
      typeof content === 'string' ? { type: 'text', value: content } : { type: 'content', value: toParts(content) },
    ...toProviderOptions(message.provider_metadata),
  };
}
