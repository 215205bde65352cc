// Part of the build: deletes the declarations that no entry point of the package leads to, two thirds of them.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as { exports: Record<string, { types: string }> };
const open = Object.values(exports).map(({ types }) => path.normalize(types));
const wanted = new Set<string>();
for (let file = open.pop(); file !== undefined; file = open.pop()) {
  if (wanted.has(file)) continue;
  wanted.add(file);
  const { importedFiles } = ts.preProcessFile(readFileSync(file, 'utf8'));
  for (const { fileName } of importedFiles)
    if (fileName.startsWith('.')) open.push(path.join(path.dirname(file), fileName.replace(/\.[tj]s$/, '.d.ts')));
}
for (const name of readdirSync('dist', { recursive: true, encoding: 'utf8' })) {
  const file = path.join('dist', name);
  if (file.endsWith('.d.ts') && !wanted.has(file)) rmSync(file);
}
