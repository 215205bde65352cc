import { readdirSync } from 'node:fs';
import path from 'node:path';
import MiniSearch from 'minisearch';
import { publicFolder } from '../../../docs/.vitepress/folders.ts';
import { searchOptions } from '../../../docs/.vitepress/search.ts';

let index: Promise<MiniSearch> | undefined;

/** The sections that the search of the built site shows for a query, best first, as their addresses. */
export async function find(query: string): Promise<string[]> {
  index ??= load();
  return (await index).search(query).map(({ id }) => (id as string).replace(/^\//, ''));
}

async function load(): Promise<MiniSearch> {
  const folder = path.join(publicFolder, 'assets/chunks');
  const file = readdirSync(folder).find((name) => name.startsWith('@localSearchIndexroot'));
  if (file === undefined) throw new Error('The site has no index of its search: npm run docs:site.');
  const { default: json } = (await import(path.join(folder, file))) as { default: string };
  return MiniSearch.loadJSON(json, {
    fields: ['title', 'titles', 'text'],
    storeFields: ['title', 'titles'],
    searchOptions,
  });
}
