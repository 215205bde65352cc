import type { CallRef } from '../store/wait/decide-tool-call.ts';
import { UsageError } from './errors.ts';
import { readJson } from '../common/json.ts';

/** Reads a tool call such as `1.0`. @throws UsageError */
export function toPlace(call: string): CallRef {
  const match = /^(\d{1,4})\.(\d{1,4})$/.exec(call);
  if (match) return { round: Number(match[1]), index: Number(match[2]) };
  throw new UsageError(`${JSON.stringify(call)} is not a tool call.`, 'Pass its round and index, such as 1.0.');
}

/** Reads a payload: JSON, or text that is none. */
export function toPayload(text: string | undefined): unknown {
  if (text === undefined) return null;
  const read = readJson(text);
  if (read.ok) return read.value;
  if (read.kind === 'syntax') return text;
  throw new UsageError(read.problem, 'Quote the whole payload to send it as text.');
}
