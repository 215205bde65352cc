import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { explorer } from '../src/api/docs.ts';
import { bundlePage } from '../src/api/page/bundle.ts';

/** Writes what the published package serves: the bundle of the page, and the script of the API reference with its licence. */
const dist = path.resolve(import.meta.dirname, '../dist');
const target = path.join(dist, 'page');
// chunks carry a hash in their names: those of an earlier build would stay
await rm(target, { recursive: true, force: true });
await mkdir(target, { recursive: true });
for (const [name, content] of await bundlePage(import.meta.dirname)) await writeFile(path.join(target, name), content);

await cp(explorer(), path.join(dist, 'docs/reference.js'));
await cp(path.resolve(explorer(), '../../../LICENSE'), path.join(dist, 'docs/LICENSE'));
