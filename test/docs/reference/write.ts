/** Writes what is generated of docs/reference: `npm run docs:reference`. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { startEmbeddedPostgres } from '../../../src/database/postgres/embedded/index.ts';
import { migrate } from '../../../src/database/store/schema/migrate.ts';
import { referencePages } from './pages.ts';

const dir = await mkdtemp(path.join(os.tmpdir(), 'lanefold-reference-'));
const server = await startEmbeddedPostgres({ dir });
try {
  await migrate(server.url);
  for (const [file, text] of await referencePages(server.url)) await writeFile(file, text);
} finally {
  await server.stop();
  await rm(dir, { recursive: true, force: true });
}
