import { readCall } from '../../base/checks/call.ts';
import type { LanefoldError } from '../../base/errors.ts';
import { UsageError } from './errors.ts';
import { readJson } from '../../base/common/json.ts';

/** Checks the name of a tool call before anything is started. @throws UsageError */
export function checkCall(call: string): void {
  try {
    readCall(call);
  } catch (error) {
    throw new UsageError((error as LanefoldError).message, 'Pass its round and index, such as 1.0.');
  }
}

/** Reads a payload as JSON, or as plain text if it is not JSON. */
export function toPayload(text: string | undefined): unknown {
  if (text === undefined) return null;
  const read = readJson(text);
  if (read.ok) return read.value;
  if (read.kind === 'syntax') return text;
  throw new UsageError(read.problem, 'Quote the whole payload to send it as text.');
}
