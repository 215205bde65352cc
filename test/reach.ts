import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';

/** Which files each file uses: by an import, by the name of a database function or view, or by the name of a file. */
export type Uses = ReadonlyMap<string, ReadonlySet<string>>;

const filesIn = (folder: string, end: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(end))
    .map((file) => path.posix.join(folder, file));

export const isTest = (file: string): boolean => file.endsWith('.test.ts');

/** The programs that a test starts from the built package have no import that leads to them. */
const programs = [...filesIn('workers', '.ts'), 'src/ops/cli/main.ts'];

export async function readUses(): Promise<Uses> {
  const uses = new Map<string, Set<string>>();
  const { metafile } = await build({
    entryPoints: [...filesIn('test', '.ts'), ...programs],
    bundle: true,
    splitting: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    outdir: '.',
    write: false,
    metafile: true,
    logLevel: 'silent',
  });
  for (const [file, { imports }] of Object.entries(metafile.inputs))
    uses.set(file, new Set(imports.filter(({ external }) => !external).map((one) => one.path)));
  const sql = filesIn('db/sql', '.sql');
  for (const file of sql) uses.set(file, new Set());

  const defining = new Map<string, string>();
  for (const file of sql)
    for (const [, name] of readFileSync(file, 'utf8').matchAll(definition)) defining.set(name!, file);
  for (const [file, used] of uses) {
    const text = readFileSync(file, 'utf8');
    for (const name of namesIn(text)) {
      const definedIn = defining.get(name);
      if (definedIn !== undefined && definedIn !== file) used.add(definedIn);
    }
    if (text.includes("'packageDir'")) for (const program of programs) used.add(program);
  }
  return uses;
}

const definition = /create (?:or replace )?(?:function|view|trigger)\s+(?:lanefold\.)?(\w+)/gi;

/** Names that may belong to functions and views: qualified names, and words with an underscore. */
function namesIn(text: string): Set<string> {
  const qualified = [...text.matchAll(/\blanefold\.(\w+)/g)].map(([, name]) => name!);
  const words = [...text.matchAll(/\w+/g)].map(([word]) => word).filter((word) => word.includes('_'));
  return new Set([...qualified, ...words]);
}

/**
 * The tests that a change of these files can reach, the nearest first: a test is nearer if fewer files lie between the test
 * and the change, and if their paths share more words.
 */
export function reachedTests(uses: Uses, changed: readonly string[]): string[] {
  const users = new Map<string, string[]>();
  for (const [file, used] of uses) for (const one of used) users.set(one, [...(users.get(one) ?? []), file]);
  const rank = new Map<string, number>();
  for (const start of changed) {
    const words = wordsOf(start);
    for (const [file, distance] of distances(users, startsOf(uses, start))) {
      if (!isTest(file)) continue;
      const shared = wordsOf(file).filter((word) => words.includes(word)).length;
      rank.set(file, Math.min(rank.get(file) ?? Infinity, distance - 1.5 * shared));
    }
  }
  return [...rank].sort((a, b) => a[1] - b[1] || a[0].localeCompare(b[0])).map(([file]) => file);
}

/** A file that no module imports, such as a guide, is used by the modules that name it or the folder at its top. */
function startsOf(uses: Uses, file: string): string[] {
  if (uses.has(file)) return [file];
  const [top, ...rest] = file.split('/');
  const names = rest.length > 0 ? [path.posix.basename(file), `'${top}'`, `'${top}/`] : [file];
  return [...uses.keys()].filter((user) => {
    const text = readFileSync(user, 'utf8');
    return names.some((name) => text.includes(name));
  });
}

/** The words of a path: `test/limits/line.test.ts` is about the same as `db/sql/limit/line.sql`. */
const wordsOf = (file: string): string[] => {
  const words = file.replace(/^(?:src|test|db\/sql|db)\//, '').replace(/(?:\.test)?\.\w+$/, '');
  return [...new Set(words.split(/[/_-]/).map((word) => word.replace(/s$/, '')))];
};

function distances(users: ReadonlyMap<string, string[]>, from: readonly string[]): Map<string, number> {
  const found = new Map(from.map((file) => [file, 0]));
  for (const [file, distance] of found)
    for (const user of users.get(file) ?? []) if (!found.has(user)) found.set(user, distance + 1);
  return found;
}
