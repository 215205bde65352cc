import { readFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { columnTables, fillColumns } from './columns.ts';
import { commandParts } from './commands.ts';
import { errorParts } from './errors.ts';
import { fill } from './markdown.ts';
import { operationParts } from './operations.ts';
import { settingParts } from './settings.ts';

/** The pages of docs/reference with what is generated of them, by their file. `url`: a migrated database. */
export async function referencePages(url: string): Promise<Map<string, string>> {
  const tables = await columnTables(url);
  const pages: Record<string, (page: string) => string> = {
    'commands.md': (page) => fill(page, commandParts()),
    'operations.md': (page) => fill(page, operationParts()),
    'settings.md': (page) => fill(page, settingParts()),
    'errors.md': (page) => fill(page, errorParts()),
    'sql.md': (page) => fillColumns(page, tables),
  };
  const written = Object.entries(pages).map(async ([name, generate]) => {
    const filepath = `docs/reference/${name}`;
    const text = generate(readFileSync(filepath, 'utf8'));
    return [filepath, await format(text, { ...(await resolveConfig(filepath)), filepath })] as const;
  });
  return new Map(await Promise.all(written));
}
