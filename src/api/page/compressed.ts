import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import type { PageFiles } from './bundle.ts';

/** A file in every encoding a browser may accept, best first. */
export interface ServedFile {
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
