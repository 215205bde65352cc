import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { packageRoot } from '../../package-root.ts';
import { bundlePage, type PageFiles } from './bundle.ts';
import { compressed, type ServedFile } from './compressed.ts';

/** The files of the page: bundled from the sources in a checkout, as published elsewhere. Read once a process. */
export const pageFiles = (): Promise<ReadonlyMap<string, ServedFile>> => (files ??= load().then(compressed));

let files: Promise<ReadonlyMap<string, ServedFile>> | undefined;

const load = (): Promise<PageFiles> => {
  const sources = path.join(packageRoot, 'page');
  return existsSync(path.join(sources, 'app.tsx'))
    ? bundlePage(sources)
    : readBundle(path.join(packageRoot, 'dist/page'));
};

async function readBundle(folder: string): Promise<PageFiles> {
  const names = await readdir(folder);
  const contents = await Promise.all(names.map((name) => readFile(path.join(folder, name))));
  return new Map(names.map((name, i) => [name, contents[i]!]));
}
