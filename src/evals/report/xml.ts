export type Attributes = Record<string, string>;

/** An element of XML 1.0. A text is escaped; a list consists of elements, each on a line. */
export function element(name: string, attributes: Attributes, content: string | string[]): string {
  const head = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeXml(value)}"`);
  const inner = typeof content === 'string' ? escapeXml(content, true) : content.map((each) => `\n${each}`).join('');
  if (inner === '') return `<${name}${head.join('')}/>`;
  return `<${name}${head.join('')}>${inner}${typeof content === 'string' ? '' : '\n'}</${name}>`;
}

/** Characters that XML 1.0 cannot contain, not even escaped. */
const impossible = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };

/** @param lines whether line feeds and tabs stay; a parser turns those of an attribute into spaces, so they are escaped there */
const escapeXml = (text: string, lines = false): string =>
  text
    .toWellFormed()
    .replace(impossible, '\ufffd')
    .replace(/[&<>"']/g, (character) => entities[character]!)
    // a parser turns a bare carriage return into a line feed
    .replace(lines ? /\r/g : /[\r\n\t]/g, (character) => `&#${character.codePointAt(0)!};`);
