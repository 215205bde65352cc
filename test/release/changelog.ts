import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Gives the section `Unreleased` of the changelog the version and today's date, and writes it to `notes` as well. Returns its
 * number of lines.
 */
export function cutChangelog(source: string, version: string, notes: string): number {
  const file = path.join(source, 'CHANGELOG.md');
  const text = readFileSync(file, 'utf8');
  const [, before, section, after] = /^([^]*?\n)## Unreleased\n([^]*?)((?:\n## [^]*)?)$/.exec(text) ?? [];
  // said only until the first release
  const told = section?.replace(/^Nothing has been published yet: .*\n/m, '').trim();
  if (!told) throw new Error('CHANGELOG.md has no text under "## Unreleased".');
  const date = new Date().toISOString().slice(0, 10);
  writeFileSync(file, `${before}## Unreleased\n\n## ${version} - ${date}\n\n${told}\n${after}`);
  writeFileSync(notes, `${told}\n`);
  return told.split('\n').length;
}
