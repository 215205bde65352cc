import { hasMoreValues } from '../../base/common/json-bytes.ts';
import { ModelError } from './model-error.ts';
import { isDeeper, maxRequestDepth, outsideStrings, parseJson, quoteNumbers } from '../../base/common/json.ts';

/** How much is read of the body of an error. */
const maxErrorChars = 2 ** 20;

/** How an answer is changed before a package reads it: line by line, or as a whole if it is JSON of several lines. */
interface Change {
  lines?: (text: string) => string;
  json?: (text: string) => string;
}

/**
 * A `fetch` that bounds what a provider answers, and changes it. Every built-in provider has one. A stream is changed line by
 * line, so that it is not delayed.
 */
export const providerFetch =
  ({ lines = (text) => text, json }: Change = {}): typeof fetch =>
  async (...request) => {
    const response = await fetch(...request);
    if (!response.body) return response;
    const isJson = response.headers.get('content-type')?.includes('json') ?? false;
    const changed = json && isJson ? whole(json) : eachWholeLine(lines);
    const body = response.body
      .pipeThrough(new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array>)
      .pipeThrough(response.ok ? changed : beginning(maxErrorChars))
      .pipeThrough(new TextEncoderStream() as unknown as ReadableWritablePair<Uint8Array<ArrayBuffer>, string>);
    const { status, statusText } = response;
    const headers = new Headers(response.headers);
    // they describe the bytes as sent
    for (const name of ['content-length', 'content-encoding']) headers.delete(name);
    return new Response(body, { status, statusText, headers });
  };

/** Changes a text that comes in pieces, line by line: no line is cut in two. Each piece is searched once. */
export function eachWholeLine(change: (lines: string) => string): TransformStream<string, string> {
  let pieces: string[] = [];
  let waiting = 0;
  const event = new EventBounds();
  const passOn = (controller: TransformStreamDefaultController<string>) => {
    const lines = pieces.join('');
    [pieces, waiting] = [[], 0];
    event.add(lines);
    controller.enqueue(change(lines));
  };
  return new TransformStream({
    transform(chunk, controller) {
      const end = chunk.lastIndexOf('\n') + 1;
      if (end > 0) {
        pieces.push(chunk.slice(0, end));
        passOn(controller);
      }
      if (end === chunk.length) return;
      pieces.push(chunk.slice(end));
      assertSize((waiting += chunk.length - end));
    },
    flush(controller) {
      if (pieces.length > 0) passOn(controller);
      event.end();
    },
  });
}

/** Changes a text as a whole, once it is there. */
function whole(change: (text: string) => string): TransformStream<string, string> {
  const pieces: string[] = [];
  let length = 0;
  return new TransformStream({
    transform(chunk) {
      pieces.push(chunk);
      assertSize((length += chunk.length));
    },
    flush(controller) {
      const text = pieces.join('');
      assertFewValues(text);
      controller.enqueue(change(text));
    },
  });
}

/** Ends a text after its first characters: the beginning of an error says what is wrong. */
function beginning(most: number): TransformStream<string, string> {
  let left = most;
  return new TransformStream({
    transform(chunk, controller) {
      controller.enqueue(chunk.slice(0, left));
      if ((left -= chunk.length) <= 0) controller.terminate();
    },
  });
}

/**
 * Bounds the events of a stream before a package reads them, which it does at the empty line behind each; and a JSON text, whose
 * empty lines mean nothing, as one.
 */
class EventBounds {
  #lines: string[] = [];
  #length = 0;
  #total = 0;
  #isJson: boolean | undefined;

  /** @param lines whole ones */
  add(lines: string): void {
    // the line before them ended
    const text = `\n${lines}`;
    assertTotal((this.#total += lines.length));
    this.#isJson ??= isJson(lines);
    const end = this.#isJson ? -1 : Math.max(text.lastIndexOf('\n\n'), text.lastIndexOf('\n\r\n'));
    if (end >= 0) {
      this.#wait(text.slice(0, end));
      this.end();
    }
    this.#wait(text.slice(end + 1));
  }

  end(): void {
    assertFewValues(this.#lines.join(''));
    [this.#lines, this.#length] = [[], 0];
  }

  #wait(lines: string): void {
    this.#lines.push(lines);
    assertSize((this.#length += lines.length));
  }
}

/** Undefined: the text has not begun. */
function isJson(text: string): boolean | undefined {
  const [first] = text.trimStart();
  return first === undefined ? undefined : first === '{' || first === '[';
}

/**
 * How many tools one answer may call. The packages of providers compare each call that arrives with those before it, so an
 * answer of some ten thousand calls would block the worker, and then the next one.
 */
const maxCalls = 2_000;

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
function assertSize(chars: number): void {
  if (chars > maxPiece) throw beyond(`has a part of more than ${maxPiece} characters`);
}

/** @throws ModelError for an event, or an answer as one text, that has too many values */
function assertFewValues(json: string): void {
  if (json.length > maxPieceValues && hasMoreValues(Buffer.from(json), maxPieceValues))
    throw beyond(`has a part of more than ${maxPieceValues} values`);
}

/** @throws ModelError for a stream that is too long */
function assertTotal(chars: number): void {
  if (chars > maxStream) throw beyond(`has more than ${maxStream} characters`);
}

/*
 * Some providers send the arguments of a call as a JSON value, not as text, and their SDK reads it before we do: numbers as
 * doubles, nesting with recursion. So what would not survive that is put into strings behind a mark, and restored in the
 * text that the SDK writes from the value.
 */
const mark = '\u0000json ';

/** JSON in which numbers that a double cannot hold, and values nested too deep, are marked strings. */
export const marked = (json: string): string => quoteNumbers(isDeeper(json, maxRequestDepth) ? cut(json) : json, mark);

/** JSON that was written from marked JSON, as it was before. */
export const unmarked = (json: string): string => (json.includes(written) ? withoutMarks(json) : json);

/** How a marked string begins in JSON. */
const written = '"\\u0000json ';

function withoutMarks(json: string): string {
  let result = '';
  let copied = 0;
  let string = -1;
  for (const [from, to] of outsideStrings(json)) {
    if (string >= 0 && json.startsWith(written, string)) {
      result += json.slice(copied, string) + (parseJson(json.slice(string, from)) as string).slice(mark.length);
      copied = from;
    }
    string = to;
  }
  return result + json.slice(copied);
}

function cut(json: string): string {
  let result = '';
  let copied = 0;
  let depth = 0;
  for (const [from, to] of outsideStrings(json)) {
    for (let at = from; at < to; at++) {
      const char = json[at];
      if (char === '[' || char === '{') {
        if (depth === maxRequestDepth) {
          result += json.slice(copied, at);
          copied = at;
        }
        depth += 1;
      } else if (char === ']' || char === '}') {
        depth -= 1;
        if (depth === maxRequestDepth) {
          result += JSON.stringify(mark + json.slice(copied, at + 1));
          copied = at + 1;
        }
      }
    }
  }
  return result + json.slice(copied);
}
