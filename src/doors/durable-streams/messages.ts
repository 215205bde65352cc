import { LanefoldError } from '../../base/errors.ts';
import { invalid } from './errors.ts';
import { readJsonBytes } from '../../base/common/json-bytes.ts';

export const jsonType = 'application/json';
/** Each message is a row. */
const maxMessages = 10_000;

const [quote, backslash, comma, open, close, openBrace, closeBrace] = Buffer.from('"\\,[]{}');
const isSpace = (byte: number | undefined) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/**
 * What a body adds to a stream: the messages of JSON, where an array stands for its elements, or all its bytes. Messages
 * keep the text they were sent as.
 *
 * @throws LanefoldError `invalid_json`, `invalid_input`
 */
export function toData(body: Buffer, mediaType: string): Buffer[] {
  if (body.byteLength === 0) return [];
  if (mediaType !== jsonType) return [body];
  const read = readJsonBytes(body, { numbers: 'kept' });
  if (!read.ok) {
    if (read.kind === 'syntax') throw invalidJson(read.problem);
    throw invalid(read.problem, 'Nothing was written. Send flatter values, or fewer at once.');
  }
  const { value } = read;
  if (!Array.isArray(value)) return [trimmed(body, 0, body.byteLength)];
  if (value.length > maxMessages)
    throw invalid(`The body has more than ${maxMessages} messages.`, 'Send them in several requests.');
  return value.length === 0 ? [] : elements(body);
}

/** The elements of valid JSON that is an array. */
function elements(json: Buffer): Buffer[] {
  const found: Buffer[] = [];
  let depth = 0;
  let inText = false;
  let from = 0;
  for (let at = 0; at < json.byteLength; at++) {
    const byte = json[at];
    if (inText) {
      if (byte === backslash) at += 1;
      else if (byte === quote) inText = false;
    } else if (byte === quote) inText = true;
    else if (byte === open || byte === openBrace) {
      depth += 1;
      if (depth === 1) from = at + 1;
    } else if (byte === close || byte === closeBrace) {
      depth -= 1;
      if (depth === 0) found.push(trimmed(json, from, at));
    } else if (byte === comma && depth === 1) {
      found.push(trimmed(json, from, at));
      from = at + 1;
    }
  }
  return found;
}

function trimmed(json: Buffer, from: number, to: number): Buffer {
  while (isSpace(json[from])) from += 1;
  while (isSpace(json[to - 1])) to -= 1;
  return json.subarray(from, to);
}

const invalidJson = (why: string): LanefoldError =>
  new LanefoldError('invalid_json', `The body is not valid JSON: ${why}.`, {
    hint: 'Nothing was written. Send one JSON value, or an array of messages, encoded as UTF-8.',
  });
