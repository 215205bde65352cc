/** A table. Cells are Markdown, in which a bar stands for itself. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

export const code = (text: string): string => `\`${text}\``;

/** Text of a help as Markdown: flags and variables are code, and what is not code has no marks. */
export const plain = (text: string): string =>
  text
    .split('`')
    .map((part, i) => (i % 2 === 1 ? code(part) : part.replaceAll(names, code('$&')).replaceAll('<', '\\<')))
    .join('');

/** A flag such as `--agents`, and a variable such as `DATABASE_URL`. */
const names = /(?<![\w-])--[a-z][a-z-]*|\b[A-Z]+(?:_[A-Z]+)+\b(?:=\w+)?/g;

/** A sentence: from a capital letter to a full stop. */
export const sentence = (text: string): string => {
  const isValue = /^\w+(?:[:.(]|(?:, \w+)+ or )/.test(text);
  const upper = /^[a-z]/.test(text) && !isValue ? text[0]!.toUpperCase() + text.slice(1) : text;
  return /[.!?…]$/.test(upper) ? upper : `${upper}.`;
};

/** Fills the places of a page that are between `<!-- name -->` and `<!-- /name -->`; everything else is written by hand. */
export function fill(page: string, parts: Readonly<Record<string, string>>): string {
  return Object.entries(parts).reduce((text, [name, part]) => {
    const [before, rest] = text.split(`<!-- ${name} -->`);
    const after = rest?.split(`<!-- /${name} -->`)[1];
    if (after === undefined)
      throw new Error(`The page has no place for ${name}: <!-- ${name} --> … <!-- /${name} -->.`);
    return `${before}<!-- ${name} -->\n\n${part}\n\n<!-- /${name} -->${after}`;
  }, page);
}
