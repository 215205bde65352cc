import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { pages } from './snippets.ts';

const installed = (text: string): string[] =>
  [...text.matchAll(/npm install ([^`\n]*)/g)].flatMap(([, names]) => names!.split(' '));

/** The packages that the blocks of a page import, besides ours and those of Node. */
function imported(text: string): Set<string> {
  const blocks = [...text.matchAll(/^```(?:ts|tsx|js)\b.*\n([\s\S]*?)^```/gm)].map(([, code]) => code!);
  const specifiers = blocks.flatMap((code) =>
    [...code.matchAll(/\b(?:from|import) '([^.'][^']*)'/g)].map(([, specifier]) => specifier!),
  );
  const names = specifiers.map((specifier) => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)![0]);
  return new Set(names.filter((name) => name !== 'lanefold' && !name.startsWith('node:')));
}

// Every project of a guide begins with this page.
const always = installed(readFileSync('docs/start/first-hour.md', 'utf8')).filter((name) => name === 'zod');

test('the first page installs what all guides use', () => expect(always).toEqual(['zod']));

test.each(pages)('%s says how to install what it imports', (page) => {
  const text = readFileSync(page, 'utf8');
  const said = new Set([...installed(text), ...always]);
  expect([...imported(text)].filter((name) => !said.has(name))).toEqual([]);
});
