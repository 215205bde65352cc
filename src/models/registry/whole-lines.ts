/** Changes a text that comes in pieces, line by line: no line is cut in two. Each piece is searched once. */
export function eachWholeLine(change: (lines: string) => string): TransformStream<string, string> {
  let pieces: string[] = [];
  return new TransformStream({
    transform(chunk, controller) {
      const end = chunk.lastIndexOf('\n') + 1;
      if (end > 0) {
        pieces.push(chunk.slice(0, end));
        controller.enqueue(change(pieces.join('')));
        pieces = [];
      }
      if (end < chunk.length) pieces.push(chunk.slice(end));
    },
    flush(controller) {
      if (pieces.length > 0) controller.enqueue(change(pieces.join('')));
    },
  });
}

/** Changes a text as a whole, once it is there. */
export function whole(change: (text: string) => string): TransformStream<string, string> {
  const pieces: string[] = [];
  return new TransformStream({
    transform: (chunk) => void pieces.push(chunk),
    flush: (controller) => controller.enqueue(change(pieces.join(''))),
  });
}
