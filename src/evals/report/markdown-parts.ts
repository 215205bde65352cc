/** Longer texts are cut: GitHub accepts comments of 65,536 characters. */
const maxText = 1_500;

/** A text on one line, as code: nothing in it is read as Markdown, in a table or outside. */
export function code(text: string): string {
  // in a table, a vertical bar ends a cell even inside code; outside, the backslash would show
  const line =
    text
      .replaceAll(/[\p{Cc}\s]+/gu, ' ')
      .replaceAll('|', '¦')
      .trim() || ' ';
  const marks = '`'.repeat(longestRun(line) + 1);
  const space = line.startsWith('`') || line.endsWith('`') ? ' ' : '';
  return `${marks}${space}${line}${space}${marks}`;
}

/** A text of several lines, as a block of code. */
export function fence(text: string): string {
  const shown = text.length > maxText ? `${text.slice(0, maxText)}…` : text;
  const marks = '`'.repeat(Math.max(3, longestRun(shown) + 1));
  return `${marks}text\n${shown.replaceAll(/\r\n?/g, '\n')}\n${marks}`;
}

export const table = (head: string[], rows: string[][]): string =>
  [head, head.map((_, i) => (i === 0 ? '---' : '---:')), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

const longestRun = (text: string): number =>
  (text.match(/`+/g) ?? []).reduce((longest, { length }) => Math.max(longest, length), 0);
