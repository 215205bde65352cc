import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** A fenced block with `run` or `file=` after its language. */
export interface Snippet {
  page: string;
  line: number;
  language: string;
  /** From `file=agents.ts`: the block is the content of that file, for other snippets of the page. */
  file: string | undefined;
  text: string;
}

export const pages = [
  'README.md',
  'skills/lanefold/SKILL.md',
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md') && !file.startsWith('api/'))
    .map((file) => `docs/${file}`)
    .sort(),
];

export function snippetsOf(page: string): Snippet[] {
  const found: Snippet[] = [];
  let open: { language: string; run: boolean; file: string | undefined; line: number; lines: string[] } | undefined;
  for (const [i, line] of readFileSync(page, 'utf8').split('\n').entries()) {
    if (!open && line.startsWith('```')) {
      const [language = '', ...words] = line.slice(3).split(' ');
      const file = words.find((word) => word.startsWith('file='))?.slice('file='.length);
      open = { language, run: words.includes('run'), file, line: i + 1, lines: [] };
    } else if (open && line === '```') {
      const { language, file, run } = open;
      if (run || file) found.push({ page, line: open.line, language, file, text: open.lines.join('\n') });
      open = undefined;
    } else {
      open?.lines.push(line);
    }
  }
  return found;
}

/** Writes programs to a folder, and one that runs them in turn; returns the path of that one. */
export function writePrograms(folder: string, programs: readonly { name: string; text: string }[]): string {
  for (const { name, text } of programs) writeFileSync(path.join(folder, name), text);
  const all = path.join(folder, 'all.ts');
  writeFileSync(all, programs.map(({ name }) => `await import('./${name}');\n`).join(''));
  return all;
}
