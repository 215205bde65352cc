import type { LanguageModelV4Message, LanguageModelV4Prompt, LanguageModelV4ToolResultPart } from '@ai-sdk/provider';
import type { ScriptedTurn } from './id.ts';

const lastUserIndex = (prompt: LanguageModelV4Prompt): number => prompt.findLastIndex((m) => m.role === 'user');

/** The messages after the last user message: the current turn. */
export const sinceLastUser = (prompt: LanguageModelV4Prompt): LanguageModelV4Message[] =>
  prompt.slice(lastUserIndex(prompt) + 1);

/** The text of the last user message; empty without one. */
export function lastUserText(prompt: LanguageModelV4Prompt): string {
  const message = prompt[lastUserIndex(prompt)];
  if (message?.role !== 'user') return '';
  return message.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

export const toolResultParts = (messages: LanguageModelV4Message[]): LanguageModelV4ToolResultPart[] =>
  messages.flatMap((m) => (m.role === 'tool' ? m.content.filter((part) => part.type === 'tool-result') : []));

export function resultText({ output }: LanguageModelV4ToolResultPart): string {
  if (output.type === 'text' || output.type === 'error-text') return output.value;
  if (output.type === 'execution-denied') return output.reason ?? 'denied';
  if (output.type !== 'content') return JSON.stringify(output.value);
  return output.value.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join(' ');
}

export const callCount = (prompt: LanguageModelV4Prompt): number =>
  prompt.reduce((n, m) => n + (m.role === 'assistant' ? m.content.filter((p) => p.type === 'tool-call').length : 0), 0);

const tokens = (bytes: number): number => Math.ceil(bytes / 4);

/** Input tokens of a prompt, estimated as a quarter of its text bytes. */
export const tokensIn = (prompt: LanguageModelV4Prompt): number => tokens(prompt.reduce((n, m) => n + bytesOf(m), 0));

export const tokensOut = (turn: ScriptedTurn): number =>
  tokens(turn.calls.reduce((n, c) => n + c.name.length + jsonBytes(c.input), Buffer.byteLength(turn.text)));

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '');

function bytesOf(message: LanguageModelV4Message): number {
  if (message.role === 'system') return Buffer.byteLength(message.content);
  let bytes = 0;
  for (const part of message.content) {
    if (part.type === 'text' || part.type === 'reasoning') bytes += Buffer.byteLength(part.text);
    else if (part.type === 'tool-call') bytes += part.toolName.length + jsonBytes(part.input);
    else if (part.type === 'tool-result') bytes += Buffer.byteLength(resultText(part));
  }
  return bytes;
}
