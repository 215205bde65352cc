import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Plugin } from 'esbuild';
import { minCompatibleVersion, schemaVersion } from '../../db/schema/version.ts';
import { buildPackage } from '../support/package.ts';

const withNextVersion: Plugin = {
  name: 'next-version',
  setup: (build) =>
    build.onLoad({ filter: /db.schema.version\.ts$/ }, () => ({
      contents: `export const schemaVersion = ${schemaVersion + 1}, minCompatibleVersion = ${minCompatibleVersion};`,
    })),
};

/** Changes the rows that every function locks, under processes that have prepared statements on them. */
const migration = ['thread', '_run']
  .map((table) => `ALTER TABLE lanefold.${table} ADD COLUMN of_next_release text;`)
  .join('--> statement-breakpoint\n');

interface Journal {
  entries: { idx: number; when: number; tag: string }[];
}

/** Builds this tree as its next release could be: with a higher schema version, and with one more migration. */
export async function buildNextRelease(dir: string): Promise<void> {
  await buildPackage(dir, [withNextVersion]);
  const migrations = path.join(dir, 'db/migrations');
  const journalFile = path.join(migrations, 'meta/_journal.json');
  const journal = JSON.parse(await readFile(journalFile, 'utf8')) as Journal;
  const last = journal.entries.at(-1)!;
  journal.entries.push({ ...last, idx: last.idx + 1, when: last.when + 1, tag: 'next_release' });
  await writeFile(journalFile, JSON.stringify(journal));
  await writeFile(path.join(migrations, 'next_release.sql'), migration);
  // a release that adds a column to the table says its value for new runs
  const rowOfRun = path.join(dir, 'db/sql/run/run_of.sql');
  const text = await readFile(rowOfRun, 'utf8');
  await writeFile(rowOfRun, text.replace(/;\n\$\$;/, ',\n    null as of_next_release;\n$$$$;'));
}
