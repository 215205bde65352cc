/** Cuts a text that comes in pieces into lines, which end with a line feed. Searches each piece once, however long a line is. */
export class LineSplitter {
  #begun: string[] = [];

  /** The lines that end in this piece. */
  push(piece: string): string[] {
    const lines = piece.split('\n');
    const last = lines.pop()!;
    if (lines.length > 0) {
      lines[0] = this.#begun.join('') + lines[0]!;
      this.#begun = [];
    }
    if (last !== '') this.#begun.push(last);
    return lines;
  }

  /** What came after the last line; empties it. */
  rest(): string {
    const rest = this.#begun.join('');
    this.#begun = [];
    return rest;
  }
}
