import { readFileSync } from 'node:fs';
import path from 'node:path';
import { repository } from './folders.ts';

/** A page in the table of contents, or a few of one kind under a label. */
export interface Entry {
  title: string;
  /** Relative to docs. */
  page?: string;
  entries: Entry[];
}

/** The groups of docs/README.md with their pages, in order: the one list of what there is to read. */
export function contents(): Entry[] {
  const text = readFileSync(path.join(repository, 'docs/README.md'), 'utf8');
  return text
    .split(/^## /m)
    .slice(1)
    .map((group) => {
      const [title = '', ...lines] = group.split('\n');
      const items = lines
        .join(' ')
        .split(/ (?:-|\d+\.) (?=\[|[A-Z])/)
        .slice(1);
      return { title: title.trim(), entries: items.flatMap(entriesOf) };
    });
}

function entriesOf(item: string): Entry[] {
  const pages = [...item.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)].map(([, title, page]) => ({
    title: title!,
    page: page!,
    entries: [],
  }));
  const label = /^([^[]+):/.exec(item.trim())?.[1];
  return label === undefined ? pages : [{ title: label, entries: pages }];
}
