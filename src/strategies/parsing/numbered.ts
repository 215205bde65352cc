// a decimal such as "3.5 is" numbers nothing
const marker = /^\s*(\d{1,9})[.:)](?!\d)/u;

/** The items of a numbered list (`1.`, `1:` or `1)` at the start of a line), each up to the next number; blank ones left out. */
export function numberedItems(text: string): { number: number; content: string }[] {
  const items: { number: number; lines: string[] }[] = [];
  for (const line of text.split('\n')) {
    const found = marker.exec(line);
    if (found) items.push({ number: Number(found[1]), lines: [line.slice(found[0].length)] });
    else items.at(-1)?.lines.push(line);
  }
  return items
    .map(({ number, lines }) => ({ number, content: lines.join('\n').trim() }))
    .filter(({ content }) => content !== '');
}
