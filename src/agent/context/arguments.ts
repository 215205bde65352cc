import { readJson } from '../../base/common/json.ts';
import type { Json, JsonObject, ToolCall } from './message.ts';

/** The arguments of a call as their JSON object, or a sentence that says what they are instead. */
export type ReadArguments = { ok: true; value: JsonObject } | { ok: false; problem: string };

/** By the text that the model wrote; by their value if the log has no text. */
export const argumentsOf = ({
  arguments: value,
  arguments_raw: written,
}: Pick<ToolCall, 'arguments' | 'arguments_raw'>): ReadArguments =>
  written == null ? asArguments(value) : readArguments(written);

/**
 * Reads the text that a model wrote as the arguments of a call. A blank text is a call without arguments: servers send one
 * for tools that take none. A tool gets plain numbers, so a number that a double cannot hold is a problem.
 */
function readArguments(written: string): ReadArguments {
  if (written.trim() === '') return { ok: true, value: {} };
  const read = readJson(written);
  if (read.ok) return asArguments(read.value as Json);
  return { ok: false, problem: read.kind === 'syntax' ? noObject('not valid JSON') : read.problem };
}

function asArguments(value: Json | undefined): ReadArguments {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ok: true, value };
  return { ok: false, problem: noObject(nameOf(value)) };
}

const noObject = (what: string): string => `The arguments must be one JSON object, but they are ${what}.`;

function nameOf(value: Json | undefined): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'string' ? 'a text' : `a ${typeof value}`;
}
