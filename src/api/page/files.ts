import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { packageRoot } from '../../common/package-root.ts';
import { bundlePage, type PageFiles } from './bundle.ts';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';

/** A file in every encoding that a browser may accept, best first. */
interface ServedFile {
  tag: string;
  encodings: { name: 'br' | 'gzip' | undefined; content: Uint8Array<ArrayBuffer> }[];
}

/** Compresses the files once, because every reader gets the same ones. */
export const compressed = async (files: PageFiles): Promise<ReadonlyMap<string, ServedFile>> =>
  new Map(await Promise.all([...files].map(async ([name, content]) => [name, await encode(content)] as const)));

const encode = async (content: Uint8Array): Promise<ServedFile> => ({
  tag: `"${createHash('sha256').update(content).digest('base64url').slice(0, 24)}"`,
  encodings: [
    { name: 'br', content: new Uint8Array(await promisify(brotliCompress)(content)) },
    { name: 'gzip', content: new Uint8Array(await promisify(gzip)(content)) },
    { name: undefined, content: new Uint8Array(content) },
  ],
});

/** The files of the page: bundled from the sources in a checkout, else as published. Read once per process. */
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
