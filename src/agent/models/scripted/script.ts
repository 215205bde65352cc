import { LanefoldError } from '../../../base/errors.ts';
import type { Json, JsonObject } from '../../context/message.ts';
import { parseJson, isObject } from '../../../base/common/json.ts';
import type { LanguageModelV4Message, LanguageModelV4Prompt, LanguageModelV4ToolResultPart } from '@ai-sdk/provider';

/** One turn of a scripted model: an answer, tool calls, or both. */
export interface ScriptedTurn {
  text: string;
  calls: { name: string; input: JsonObject }[];
}

export interface ScriptedSpec {
  script: 'echo' | 'demo' | ScriptedTurn[];
  /** Delay before the first part and between parts, in milliseconds. */
  latencyMs: number;
  chunkMs: number;
}

/**
 * Parses the id after `scripted:`: `echo`, `demo` or a JSON array of turns, optionally followed by
 * `?latency_ms=50&chunk_ms=5`. A turn is a string (an answer), `{tool, args}`, or `{tools: [{tool, args}], text?}`.
 *
 * @throws LanefoldError `unknown_model`
 */
export function parseScriptedId(id: string): ScriptedSpec {
  // The texts of a script may contain question marks, so its options start after the last bracket.
  const from = id.startsWith('[') ? id.lastIndexOf(']') : 0;
  const at = id.indexOf('?', Math.max(0, from));
  const name = at < 0 ? id : id.slice(0, at);
  const query = new URLSearchParams(at < 0 ? '' : id.slice(at + 1));
  for (const key of query.keys())
    if (key !== 'latency_ms' && key !== 'chunk_ms') throw invalid(id, `option ${JSON.stringify(key)} is unknown`);
  return {
    script: name === 'echo' || name === 'demo' ? name : parseScript(id, name),
    latencyMs: milliseconds(id, query, 'latency_ms'),
    chunkMs: milliseconds(id, query, 'chunk_ms'),
  };
}

function milliseconds(id: string, query: URLSearchParams, key: string): number {
  const value = Number(query.get(key) ?? 0);
  if (value >= 0 && value <= 3_600_000) return value;
  throw invalid(id, `${key} must be a number from 0 to 3600000`);
}

function parseScript(id: string, json: string): ScriptedTurn[] {
  let script: Json;
  try {
    script = parseJson(json) as Json;
  } catch {
    throw invalid(id, 'it must be echo, demo or a JSON array of turns');
  }
  if (!Array.isArray(script) || script.length === 0)
    throw invalid(id, 'the script must be an array of at least one turn');
  return script.map((turn, i) => {
    if (typeof turn === 'string') return { text: turn, calls: [] };
    const fields = isObject(turn) ? turn : {};
    const calls = Array.isArray(fields.tools) ? fields.tools : [turn];
    if (!calls.every((call) => isObject(call) && typeof call.tool === 'string'))
      throw invalid(id, `turn ${i + 1} must be a string, {tool, args}, or {tools: [{tool, args}], text?}`);
    return {
      text: typeof fields.text === 'string' ? fields.text : '',
      calls: (calls as JsonObject[]).map((call) => ({
        name: call.tool as string,
        input: isObject(call.args) ? call.args : {},
      })),
    };
  });
}

const invalid = (id: string, why: string) =>
  new LanefoldError('unknown_model', `Model "scripted:${id.slice(0, 200)}" is invalid: ${why}.`, {
    hint: 'Use scripted:echo, scripted:demo, or scripted:["an answer"], each with an optional ?latency_ms=50&chunk_ms=5.',
  });

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
