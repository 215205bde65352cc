import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { publicFolder } from './folders.ts';

/** Throws if a link of the site leads nowhere: to a page, a file or a heading that is not there. */
export function checkLinks(): void {
  const files = readdirSync(publicFolder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.html'),
  );
  const pages = new Map(files.map((file) => [file, readFileSync(path.join(publicFolder, file), 'utf8')]));
  const anchors = new Map([...pages].map(([file, html]) => [file, new Set(matches(html, / id="([^"]+)"/g))]));
  const dead = new Set<string>();
  for (const [page, html] of pages) {
    for (const link of matches(html, /<(?:a|img)\b[^>]*? (?:href|src)="([^"]+)"/g)) {
      if (/^(https?:|mailto:|data:)/.test(link)) continue;
      const [place = '', anchor] = decodeURI(link).split('#');
      const file = place === '' ? page : path.posix.join(place.startsWith('/') ? '' : path.posix.dirname(page), place);
      const found = fileOf(file.replace(/^\//, ''));
      if (found === undefined) dead.add(`${page}: ${link}`);
      // TypeDoc counts headings of the same name otherwise than pages do
      else if (anchor && !page.startsWith('api/') && anchors.get(found)?.has(anchor) === false)
        dead.add(`${page}: ${link}`);
    }
  }
  if (dead.size > 0) throw new Error(`Dead links of the site:\n${[...dead].join('\n')}`);
}

const matches = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map((match) => match[1]!);

function fileOf(place: string): string | undefined {
  const candidates = [place, `${place}.html`, path.posix.join(place, 'index.html')];
  return candidates.find((file) => {
    const whole = path.join(publicFolder, file);
    return existsSync(whole) && statSync(whole).isFile();
  });
}
