import assert from 'node:assert/strict';
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { pages, snippetsOf } from '../docs/snippets.ts';
import { node } from './processes.ts';
import { typed, typedTables } from './programs.ts';

interface Folders {
  checkout: string;
  /** Where the package is installed. */
  home: string;
  /** Of the project that `init` has written. */
  app: string;
}

/** Compiles what a user may write, strictly, with both ways to resolve modules and with and without the types of libraries. */
export async function compileTypes({ checkout, home, app }: Folders): Promise<void> {
  const types = path.join(home, 'types');
  await writeSources(types, app);
  await linkMissing(types, checkout, home);
  const compile = async (moduleResolution: 'NodeNext' | 'Bundler', skipLibCheck: boolean, include: string[]) => {
    const compilerOptions = {
      module: moduleResolution === 'Bundler' ? 'ESNext' : moduleResolution,
      moduleResolution,
      skipLibCheck,
      noEmit: true,
      strict: true,
      target: 'ES2023',
      types: ['node'],
      jsx: 'react-jsx',
      lib: ['ES2023', 'DOM', 'DOM.AsyncIterable'],
      allowImportingTsExtensions: true,
    };
    const config = `tsconfig.${moduleResolution}.${skipLibCheck}.json`;
    await writeFile(path.join(types, config), JSON.stringify({ compilerOptions, include }));
    const tsc = path.join(home, 'node_modules/typescript/bin/tsc');
    const { code, stdout } = await node(tsc, ['-p', config], types);
    assert.equal(code, 0, `${moduleResolution}, skipLibCheck ${skipLibCheck}:\n${stdout}`);
  };
  // one after the other: each takes a core and a gigabyte
  await compile('NodeNext', true, ['**/*']);
  await compile('NodeNext', false, ['*.ts']);
  await compile('Bundler', false, ['*.ts']);
  await compile('Bundler', true, ['tables/*.ts']);
}

async function writeSources(types: string, app: string): Promise<void> {
  await mkdir(path.join(types, 'tables'), { recursive: true });
  await writeFile(path.join(types, 'package.json'), '{ "type": "module" }');
  await writeFile(path.join(types, 'typed.ts'), typed);
  await cp(path.join(app, 'agents.ts'), path.join(types, 'agents.ts'));
  await writeFile(path.join(types, 'tables/tables.ts'), typedTables);
  for (const { page, line, language, file, text } of pages.flatMap(snippetsOf)) {
    if (!['ts', 'tsx'].includes(language)) continue;
    const folder = path.join(types, page.replaceAll(/\W/g, '-'));
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, file ?? `line-${line}.${language}`), `${text}\nexport {};\n`);
  }
}

/** What guides import besides the package comes from the checkout. */
async function linkMissing(types: string, checkout: string, home: string): Promise<void> {
  const link = async (modules: string, name: string) => {
    await mkdir(path.dirname(path.join(modules, name)), { recursive: true });
    await symlink(path.join(checkout, 'node_modules', name), path.join(modules, name));
  };
  const installed = path.join(home, 'node_modules');
  // the declarations of the package import these too, so they have to be where it finds them
  for (const scope of ['@langchain', '@openai']) await link(installed, scope);
  const modules = path.join(types, 'node_modules');
  for (const scope of ['@ag-ui', '@ai-sdk', '@durable-streams', '@modelcontextprotocol', '@opentelemetry'])
    await link(modules, scope);
  for (const name of ['ai', 'drizzle-orm', 'kysely', 'postgres', 'hono', 'react', '@types/react', '@types/pg'])
    if (!existsSync(path.join(installed, name))) await link(modules, name);
}
