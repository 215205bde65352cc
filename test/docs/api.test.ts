// @module-tag slow
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { startProgram } from '../examples/program.ts';
import { createDatabase } from '../support/database.ts';
import { writePrograms } from './snippets.ts';

const pagesIn = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder)
      .filter((file) => file.endsWith('.md'))
      .map((file) => [file, readFileSync(path.join(folder, file), 'utf8')]),
  );

/** What a section has between ```ts and ```, where it is a program of its own. */
const programsIn = (text: string): string[] =>
  [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map((match) => match[1]!).filter((code) => code.startsWith('import '));

const sections = Object.values(pagesIn('docs/api')).flatMap((page) => page.split(/^(?=## )/m));

test('docs/api is what the declarations say, and every type they name is on a page', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'lanefold-api-'));
  try {
    const { status, stdout, stderr } = spawnSync('npx', ['typedoc', '--out', folder], { encoding: 'utf8' });
    expect([status, status === 0 ? '' : stdout + stderr]).toEqual([0, '']);
    expect(pagesIn('docs/api'), 'run `npm run docs:api`').toEqual(pagesIn(folder));
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the package exports what its users write down', async () => {
  const text = readFileSync('src/index.ts', 'utf8');
  const names = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gms)].flatMap(([, list]) =>
    list!.split(',').flatMap((name) => name.replace('type ', '').trim() || []),
  );
  expect(names.length).toBeGreaterThan(50);
  expect(names.length).toBeLessThanOrEqual(130);
  expect(Object.keys(await import('lanefold')).filter((name) => !names.includes(name))).toEqual([]);
});

/** What a compiler says of these files alone: the check of all types has checked what they import. */
function mistakesIn(files: string[]): string[] {
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile('tsconfig.json', ts.sys.readFile).config,
    ts.sys,
    '.',
  );
  const program = ts.createProgram(files, options);
  return files
    .map((file) => program.getSourceFile(file))
    .flatMap((file) => [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)])
    .map(({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`);
}

test('every exported function has an example that compiles and runs', async () => {
  const functions = sections.filter((section) => /^## \w+\(\)/.test(section));
  expect(functions.length).toBeGreaterThan(10);
  const without = functions.filter((section) => programsIn(section).length === 0);
  expect(without.map((section) => section.split('\n')[0])).toEqual([]);

  // inside the checkout, so that imports resolve, and in a folder git ignores
  mkdirSync('.lanefold', { recursive: true });
  const folder = mkdtempSync(path.resolve('.lanefold/examples-'));
  const database = await createDatabase();
  try {
    const programs = sections.flatMap(programsIn).map((text, index) => ({ name: `${index}.ts`, text }));
    const all = writePrograms(folder, programs);
    expect(mistakesIn(programs.map(({ name }) => path.join(folder, name)))).toEqual([]);

    const program = startProgram(all, { cwd: folder, env: { DATABASE_URL: database.url } });
    expect(await program.ended).toMatchObject({ code: 0, errors: '' });
  } finally {
    rmSync(folder, { recursive: true });
    await database.drop();
  }
});
