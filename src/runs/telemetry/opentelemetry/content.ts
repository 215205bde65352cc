import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import type { Attributes } from '@opentelemetry/api';
import type { ModelTurn } from '../../../agent/context/message.ts';
import type { Redactor } from '../../../base/redaction/sensitive-keys.ts';
import type { ObservedModelCall, ObservedToolCall } from '../telemetry.ts';

/* The content of calls, recorded on request: redacted, and as JSON, because span attributes have no structure. */

type Part = { type: string; [key: string]: unknown };
type PromptPart = Exclude<LanguageModelV4Prompt[number]['content'], string>[number];

export function inputContent(redactor: Redactor, { prompt, tools }: ObservedModelCall): Attributes {
  const messages = prompt.map(({ role, content }) => ({
    role,
    parts: typeof content === 'string' ? [{ type: 'text', content }] : content.map(toPart),
  }));
  const definitions = tools.map(({ name, description, inputSchema }) => ({
    ...{ type: 'function', name, description, parameters: inputSchema },
  }));
  return {
    'gen_ai.input.messages': asJson(redactor, messages),
    ...(tools.length > 0 ? { 'gen_ai.tool.definitions': asJson(redactor, definitions) } : {}),
  };
}

export function outputContent(redactor: Redactor, turn: ModelTurn): Attributes {
  const parts: Part[] = [
    ...(turn.thinking ? [{ type: 'reasoning', content: turn.thinking }] : []),
    ...(turn.text ? [{ type: 'text', content: turn.text }] : []),
    ...turn.toolCalls.map((call) => ({ type: 'tool_call', id: call.id, name: call.name, arguments: call.arguments })),
  ];
  return { 'gen_ai.output.messages': asJson(redactor, [{ role: 'assistant', parts }]) };
}

export const toolArguments = (redactor: Redactor, { call }: ObservedToolCall): Attributes => ({
  'gen_ai.tool.call.arguments': asJson(redactor, call.arguments),
});

export const toolResult = (redactor: Redactor, content: string): Attributes => ({
  'gen_ai.tool.call.result': redactor.text(content),
});

function toPart(part: PromptPart): Part {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return { type: part.type, content: part.text };
    case 'tool-call':
      return { type: 'tool_call', id: part.toolCallId, name: part.toolName, arguments: part.input };
    case 'tool-result':
      return { type: 'tool_call_response', id: part.toolCallId, response: part.output };
    case 'file':
      // leave out the bytes: they do not belong in a trace
      return { type: 'file', mime_type: part.mediaType };
    default:
      return { type: part.type };
  }
}

const asJson = (redactor: Redactor, value: unknown): string => JSON.stringify(redactor.value(value)) ?? 'null';
