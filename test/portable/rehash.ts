import { LineWriter } from '../../src/runs/formats/portable/line.ts';

type Fields = Record<string, unknown> & { type: string };

/** The lines of an export after a change, with hashes that fit: what somebody who knows the format can forge. */
export function lineWriter(lines: readonly string[], change: (fields: Fields) => Fields | undefined): string[] {
  const writer = new LineWriter();
  return lines.flatMap((line) => {
    const { line: _line, hash: _hash, ...fields } = JSON.parse(line) as Fields;
    const changed = change(fields as Fields);
    if (!changed) return [];
    const { type, ...rest } = changed;
    return [writer.write(type, JSON.stringify(rest))];
  });
}
