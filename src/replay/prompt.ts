import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { canonical, type Comparable } from './compare.ts';

/** The messages of a provider prompt, with one message per tool result: a prompt combines the results of a round. */
export function fromPrompt(prompt: LanguageModelV4Prompt): Comparable[] {
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
