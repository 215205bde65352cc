import { UsageError } from './errors.ts';
import { readJson } from '../common/json.ts';

/** Reads a payload: JSON, or text that is none. */
export function toPayload(text: string | undefined): unknown {
  if (text === undefined) return null;
  const read = readJson(text);
  if (read.ok) return read.value;
  if (read.kind === 'syntax') return text;
  throw new UsageError(read.problem, 'Quote the whole payload to send it as text.');
}
