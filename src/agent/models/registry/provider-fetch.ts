import { assertFewValues, assertSize, assertTotal } from '../answer/bounds.ts';

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
