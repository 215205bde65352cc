import { assertFewValues, assertSize, assertTotal } from '../answer/bounds.ts';

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
export function whole(change: (text: string) => string): TransformStream<string, string> {
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
export function beginning(most: number): TransformStream<string, string> {
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
