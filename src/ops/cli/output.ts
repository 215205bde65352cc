import pc from 'picocolors';
import { printable } from '../../base/log/logger.ts';

type Stream = NodeJS.WriteStream;

/** Colours for a stream: on a terminal or with FORCE_COLOR, and never with NO_COLOR. */
export function colours(stream: Stream = process.stdout) {
  const { NO_COLOR: never, FORCE_COLOR: forced } = process.env;
  return pc.createColors(!never && (forced ? forced !== '0' : Boolean(stream.isTTY)));
}

/** A line of the command's result. */
export const print = (line = ''): void => void process.stdout.write(`${line}\n`);

/** Control characters that JSON does not escape but some terminals act on. */
const controls = /[\x7f-\x9f]/g;
const spelled = (control: string): string => `\\u00${control.charCodeAt(0).toString(16)}`;

/** The command's result for machines, as one line of JSON that is safe on a terminal. */
export const printJson = (value: unknown): void => print(JSON.stringify(value).replace(controls, spelled));

/** Whether stderr is read by machines, which expect a JSON object on each line. */
export const jsonLogs = (): boolean => process.env['LANEFOLD_LOG'] === 'json';

/** Whether a worker prints a line for each run that ends: JSON logs already have it, and a silent log wants no line. */
export const tellsOfRuns = (): boolean => !jsonLogs() && process.env['LANEFOLD_LOG_LEVEL'] !== 'silent';

/** A status line on stderr, not part of the result. */
export function note(msg: string, facts: Record<string, unknown> = { level: 'info' }): void {
  const line = jsonLogs()
    ? JSON.stringify({ ...facts, time: new Date(), service: 'lanefold', pid: process.pid, msg })
    : msg;
  process.stderr.write(`${line}\n`);
}

interface ProgressLine {
  /** Shows the text, at a limited rate. */
  update(text: string): void;
  /** Removes the progress line. */
  end(): void;
}

const redrawMs = 100;
const lineMs = 5_000;

/**
 * Shows the progress of long work on stderr: one updating line on a terminal, elsewhere a line every five seconds,
 * which shows activity without flooding a log.
 */
export function createProgress(stream: Stream = process.stderr): ProgressLine {
  const tty = Boolean(stream.isTTY);
  let shownAt = tty ? -Infinity : performance.now();
  let open = false;
  return {
    update(text) {
      const now = performance.now();
      if (now - shownAt < (tty ? redrawMs : lineMs)) return;
      shownAt = now;
      open = tty;
      stream.write(tty ? `\r\u001b[2K${text.slice(0, (stream.columns || 80) - 1)}` : `${text}\n`);
    },
    end() {
      if (open) stream.write('\r\u001b[2K');
      open = false;
    },
  };
}

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
