import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { bundlePage } from '../src/api/page/bundle.ts';

/** Writes the bundle that the published package serves. */
const target = path.resolve(import.meta.dirname, '../dist/page');
// chunks carry a hash in their names: those of an earlier build would stay
await rm(target, { recursive: true, force: true });
await mkdir(target, { recursive: true });
for (const [name, content] of await bundlePage(import.meta.dirname)) await writeFile(path.join(target, name), content);
