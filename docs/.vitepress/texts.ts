import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { contents, type Entry } from './contents.ts';
import { pagesFolder, publicFolder } from './folders.ts';
import { placeOf } from './links.ts';

/** Writes what programs read: the Markdown of each page beside its HTML, llms.txt, and llms-full.txt. */
export function writeTexts(): void {
  for (const file of readdirSync(pagesFolder, { recursive: true, encoding: 'utf8' }))
    if (file.endsWith('.md')) cpSync(path.join(pagesFolder, file), path.join(publicFolder, file));
  const groups = contents();
  const head = `# Lanefold\n\n> ${firstParagraph('index.md')}`;
  writeFileSync(path.join(publicFolder, 'llms.txt'), `${[head, ...groups.map(listed)].join('\n\n')}\n`);
  const pages = groups.flatMap(placesOf).filter((place) => !place.startsWith('api/'));
  const whole = ['index.md', ...pages].map((place) => `<!-- /${place} -->\n\n${read(place).trim()}`);
  writeFileSync(path.join(publicFolder, 'llms-full.txt'), `${whole.join('\n\n')}\n`);
}

const read = (place: string): string => readFileSync(path.join(pagesFolder, place), 'utf8');

const placesOf = ({ page, entries }: Entry): string[] =>
  page === undefined ? entries.flatMap(placesOf) : [placeOf(`docs/${page}`)];

const listed = (group: Entry): string => {
  const line = ({ title, page }: Entry): string[] => {
    const place = placeOf(`docs/${page!}`);
    return [`- [${title}](/${place}): ${firstParagraph(place)}`];
  };
  const lines = (entry: Entry): string[] => (entry.page === undefined ? entry.entries.flatMap(lines) : line(entry));
  return `## ${group.title}\n\n${group.entries.flatMap(lines).join('\n')}`;
};

/** The first paragraph of a page, as plain text. */
const firstParagraph = (place: string): string =>
  (/^(?![#<|!`-])\S[^]*?(?=\n\n|$(?![^]))/m.exec(read(place))?.[0] ?? '')
    .replaceAll('\n', ' ')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1');
