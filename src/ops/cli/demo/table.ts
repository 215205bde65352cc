import { printable } from '../../../base/log/printable.ts';

/** Formats rows as a plain table. Values are cut at `limit` characters. */
export function table(header: string[], rows: unknown[][], limit = 60): string[] {
  const cells = [header, ...rows.map((row) => row.map((value) => cut(show(value), limit)))];
  const widths = header.map((_, i) => Math.max(...cells.map((row) => row[i]!.length)));
  const lines = cells.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i]!))
      .join('  ')
      .trimEnd(),
  );
  return [lines[0]!, widths.map((width) => '-'.repeat(width)).join('  '), ...lines.slice(1)];
}

const show = (value: unknown): string =>
  value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);

const cut = (text: string, limit: number): string => {
  const line = printable(text.replaceAll('\n', ' '));
  return line.length > limit ? `${line.slice(0, limit - 1)}…` : line;
};
