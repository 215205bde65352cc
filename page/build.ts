import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { explorer } from '../src/server/docs.ts';
import { bundlePage } from '../src/server/page/routes.ts';

/**
 * Writes the files that the published package serves: the page bundle, and the API reference script with its licence.
 */
const dist = path.resolve(import.meta.dirname, '../dist');
const target = path.join(dist, 'page');
// chunk names contain a hash, so chunks of an earlier build would remain
await rm(target, { recursive: true, force: true });
await mkdir(target, { recursive: true });
for (const [name, content] of await bundlePage(import.meta.dirname)) await writeFile(path.join(target, name), content);

await cp(explorer(), path.join(dist, 'docs/reference.js'));
await cp(path.resolve(explorer(), '../../../LICENSE'), path.join(dist, 'docs/LICENSE'));
