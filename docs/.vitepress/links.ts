import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { errorStatus } from '../../src/base/errors.ts';
import { repository } from './folders.ts';

/** Files that the site serves beside its pages. */
export const isAsset = (file: string): boolean => /^docs\/.*\.(svg|png|ya?ml|json)$/.test(file);

export const isPage = (file: string): boolean => file.endsWith('.md');

/** Where a file of the repository is on the site. */
export function placeOf(file: string): string {
  if (file === 'README.md') return 'index.md';
  if (file === 'docs/README.md') return 'contents.md';
  const place = file.startsWith('docs/') ? file.slice('docs/'.length) : `repository/${file}`;
  return place.replace(/(^|\/)README\.md$/, '$1index.md');
}

/** The file that a link of a page leads to, relative to the repository; the README of a folder. */
export function targetOf(page: string, link: string): string | undefined {
  const file = path.posix.join(path.posix.dirname(page), link);
  const whole = path.join(repository, file);
  if (file.startsWith('..') || !existsSync(whole)) return undefined;
  if (!statSync(whole).isDirectory()) return file;
  const readme = path.posix.join(file, 'README.md');
  return existsSync(path.join(repository, readme)) ? readme : file;
}

export const relative = (from: string, to: string): string => {
  const link = path.posix.relative(path.posix.dirname(from), to);
  return link.startsWith('.') ? link : `./${link}`;
};

/**
 * A page of the repository with links for its place on the site. A link to the code of an error leads to the page of this
 * code. A link to what the site does not have, such as a source, becomes the path of the file.
 */
export function withLinks(text: string, page: string, place = placeOf(page)): string {
  return outsideOfCode(text, (prose) =>
    prose.replaceAll(/(!?\[(?:[^[\]]|\[[^\]]*\])*\])\(([^)\s]+)\)/g, (whole, label: string, link: string) => {
      if (/^(https?:|mailto:|#)/.test(link)) return whole;
      const [file = '', anchor] = link.split('#');
      const target = targetOf(page, file);
      if (target === undefined) throw new Error(`${page} links to ${link}, which is not there.`);
      const code = /^\[`(\w+)`\]$/.exec(label)?.[1];
      if (target === 'docs/reference/errors.md' && code !== undefined && code in errorStatus)
        return `${label}(${relative(place, `reference/errors/${code}.md`)})`;
      if (!isPage(target) && !isAsset(target)) return asPath(label, target);
      const to = isPage(target) ? relative(place, placeOf(target)) : `/${placeOf(target)}`;
      return `${label}(${to}${anchor === undefined ? '' : `#${anchor}`})`;
    }),
  );
}

function asPath(label: string, target: string): string {
  const text = label.slice(1, -1);
  const said = text.replaceAll('`', '');
  return target.endsWith(said) ? `\`${target}\`` : `${text} (\`${target}\`)`;
}

/** Changes what of a page is neither a block of code nor a code span. */
function outsideOfCode(text: string, change: (prose: string) => string): string {
  const blocks = text.split(/^(```[^]*?^```.*)$/m);
  return blocks.map((block, i) => (i % 2 === 1 ? block : change(block))).join('');
}
