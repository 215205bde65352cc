import { LanefoldError, type ErrorCode } from '../../base/errors.ts';
import type { StoredStream } from '../../database/store/stream/streams.ts';
import { readJsonBytes } from '../../base/common/json-bytes.ts';

export const invalid = (message: string, hint: string): LanefoldError =>
  new LanefoldError('invalid_input', message, { hint });

/** An error whose response has these headers. */
export const withHeaders = (
  code: ErrorCode,
  message: string,
  hint: string,
  headers: Record<string, string>,
): LanefoldError => new LanefoldError(code, message, { hint, details: { headers } });

export const streamNotFound = (name: string): LanefoldError =>
  new LanefoldError('stream_not_found', `There is no stream ${name}, or it has expired.`, {
    hint: 'Create it with PUT.',
  });

export const streamDeleted = (name: string): LanefoldError =>
  new LanefoldError('stream_deleted', `Stream ${name} was deleted. Forks still need its data, so its name is taken.`, {
    hint: 'Use another name, or delete its forks first.',
  });

export const beyondTail = (): LanefoldError =>
  invalid('The offset is beyond the end of the stream.', 'Read from -1: the stream may have been created again.');

/** Part of a stream, as it is read. */
export interface Page {
  /** Differs between streams that had the same URL. */
  id: string;
  contentType: string;
  /** In lower case, without parameters. */
  mediaType: string;
  /** The bytes, or an array of JSON; empty without data, for every type. */
  data: Buffer;
  from: number;
  /** The position after the data. */
  next: number;
  /** There was nothing after `next`. */
  upToDate: boolean;
  /** There will be nothing after `next`. */
  closed: boolean;
  ttlS: number | null;
  endsAt: string | null;
}

/** A stream that can be read. Its methods throw `stream_not_found`, `stream_deleted` or what they throw for its thread. */
export interface Readable {
  /** Its end, without data; `closed`: whether the stream is closed. Does not count as a read. */
  head(): Promise<Page>;
  /** @param from undefined: the end. @throws LanefoldError `invalid_input` if there is no such position yet */
  read(from: number | undefined): Promise<Page>;
  /** Resolves once there may be something after an up-to-date page, or the signal aborts. */
  changed(page: Page, signal: AbortSignal): Promise<void>;
  /** The pages that follow a page as they come. Ends with the stream, or the signal. */
  follow(page: Page, signal: AbortSignal): AsyncGenerator<Page, void, void>;
}

/** The conformance suite of the protocol expects the start of a stream under this token, and positions after it. */
const prefix = '0000000000000000_';
/** Enough for every whole number that JavaScript can count with. */
const digits = 16;

/** The token for a position: of constant length, so that tokens sort as their positions do. */
export const toOffset = (position: number): string => prefix + String(position).padStart(digits, '0');

/** The position of a token; `undefined` for `now`. @throws LanefoldError `invalid_input` */
export function readOffset(token: string): number | undefined {
  if (token === '-1') return 0;
  if (token === 'now') return undefined;
  const position = /^0{16}_\d{16}$/.test(token) ? Number(token.slice(prefix.length)) : NaN;
  if (Number.isSafeInteger(position)) return position;
  throw invalid(
    'The offset is not one of this server.',
    'Pass a Stream-Next-Offset as it was returned, -1 for the start, or now for the end.',
  );
}

/** A response. */
export interface Answer {
  status: 200 | 201 | 204 | 304;
  headers: Record<string, string>;
  body?: Buffer;
}

/** What every response about a stream says of its end. */
export const streamHeaders = ({ tail, closed }: Pick<StoredStream, 'tail' | 'closed'>): Record<string, string> => ({
  'Stream-Next-Offset': toOffset(tail),
  ...(closed ? { 'Stream-Closed': 'true' } : {}),
});

export const pageHeaders = ({ next, upToDate, closed }: Page): Record<string, string> => ({
  ...streamHeaders({ tail: next, closed }),
  ...(upToDate ? { 'Stream-Up-To-Date': 'true' } : {}),
});

/** Changes with everything that the response says, also when the stream is closed without data. */
export const etagOf = ({ id, from, next, upToDate, closed }: Page): string =>
  `"${id}:${from}:${next}${upToDate ? ':u' : ''}${closed ? ':c' : ''}"`;

/** Cursors count intervals since then, as the protocol proposes. */
const epochMs = Date.UTC(2024, 9, 9);
const intervalMs = 20_000;
/** A client that is ahead of the interval gets a cursor up to an hour later. */
const maxJumps = 180;

/**
 * The cursor of a live response: caches use it to serve waiting clients together, and it changes so that they do not serve
 * the same response forever. Always above the one that the client has.
 */
export function liveCursor(given: string | undefined, nowMs = Date.now()): string {
  const current = Math.floor((nowMs - epochMs) / intervalMs);
  const had = given !== undefined && /^\d{1,15}$/.test(given) ? Number(given) : -1;
  return String(had < current ? current : had + 1 + Math.floor(Math.random() * maxJumps));
}

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
