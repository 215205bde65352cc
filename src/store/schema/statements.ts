/** What a semicolon does not end: a comment, a string, a body in dollar quotes. */
const token = /--.*$|'(?:[^']|'')*'|(\$\w*\$)[\s\S]*?\1|;/gm;

/** The statements of a file of SQL, as written, each with the comment before it. */
export function statements(text: string): string[] {
  const found: string[] = [];
  let start = 0;
  for (const { 0: match, index } of text.matchAll(token)) {
    if (match !== ';') continue;
    found.push(text.slice(start, index + 1).trim());
    start = index + 1;
  }
  return found;
}
