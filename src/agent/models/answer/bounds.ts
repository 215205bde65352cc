import { hasMoreValues } from '../../../base/common/json-bytes.ts';
import { ModelError } from '../errors/model-error.ts';

/**
 * How many tools one answer may call. The packages of providers compare each call that arrives with those before it, so an
 * answer of some ten thousand calls would block the worker, and then the next one.
 */
export const maxCalls = 2_000;

/** How long one answer may be, with its thinking and the arguments of its calls. No context has room for more. */
const maxChars = 2 ** 26;

/** How long one event of a stream may be, or an answer that comes as one JSON text: a package holds and reads it at once. */
const maxPiece = 2 ** 25;

/** How long a stream may be: events take many times the characters that they carry. */
const maxStream = 2 ** 28;

/** How many values these may have: reading a few hundred thousand blocks the worker for a second. */
const maxPieceValues = 250_000;

/** Counts what an answer consists of while it arrives. */
export class AnswerBounds {
  #calls = 0;
  #chars = 0;

  /** @throws ModelError */
  call(): void {
    if (++this.#calls > maxCalls) throw tooMany();
  }

  /** @throws ModelError */
  chars(count: number): void {
    if ((this.#chars += count) > maxChars) throw beyond(`is longer than ${maxChars} characters`);
  }
}

/**
 * Refuses lines of a stream of which one has more calls than an answer may have: a package reads a line at once. Quotes within
 * a text of the model are escaped.
 *
 * @throws ModelError
 */
export function assertFewCalls(lines: string): void {
  if (lines.length < maxCalls * begun.length) return;
  for (const line of lines.split('\n')) if (line.split(begun, maxCalls + 2).length > maxCalls + 1) throw tooMany();
}

const begun = '"function"';
const tooMany = (): ModelError => beyond(`calls more than ${maxCalls} tools`);
const beyond = (what: string): ModelError =>
  new ModelError(`The answer of the model ${what}.`, { errorType: 'llm_response', retryable: false });

/** @throws ModelError for an event, or an answer as one text, that is too long */
export function assertSize(chars: number): void {
  if (chars > maxPiece) throw beyond(`has a part of more than ${maxPiece} characters`);
}

/** @throws ModelError for an event, or an answer as one text, that has too many values */
export function assertFewValues(json: string): void {
  if (json.length > maxPieceValues && hasMoreValues(Buffer.from(json), maxPieceValues))
    throw beyond(`has a part of more than ${maxPieceValues} values`);
}

/** @throws ModelError for a stream that is too long */
export function assertTotal(chars: number): void {
  if (chars > maxStream) throw beyond(`has more than ${maxStream} characters`);
}
