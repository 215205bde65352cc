import { cp, readdir, readFile, symlink } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';
import { packageRoot } from '../../src/package-root.ts';

/** The published sources and the programs that tests start as separate processes. */
const compiled = [
  'src',
  'db/schema',
  'workers',
  'test/support',
  'test/faults/fixtures',
  'test/postgres/fixtures',
  'test/queue/fixtures',
];
const { files } = JSON.parse(await readFile(path.join(packageRoot, 'package.json'), 'utf8')) as { files: string[] };
const copied = ['package.json', ...files.filter((file) => file !== 'dist')];

/**
 * Builds the package in `dir` with its published layout. Tests start hundreds of processes, and a compiled one starts
 * twice as fast as one that compiles the sources first.
 */
export async function buildPackage(dir: string): Promise<void> {
  const files = await Promise.all(
    compiled.map(async (folder) =>
      (await readdir(path.join(packageRoot, folder), { recursive: true })).map((file) => path.join(folder, file)),
    ),
  );
  await build({
    absWorkingDir: packageRoot,
    entryPoints: files.flat().filter((file) => file.endsWith('.ts')),
    outdir: path.join(dir, 'dist'),
    outbase: '.',
    format: 'esm',
    platform: 'node',
    target: 'node20',
    sourcemap: 'inline',
    // one output per file, as tsc does: only the extensions in imports change
    bundle: true,
    plugins: [
      {
        name: 'extensions',
        setup: ({ onResolve }) =>
          onResolve({ filter: /.*/ }, ({ kind, path: name }) =>
            kind === 'entry-point' ? undefined : { path: name.replace(/^(\..*)\.ts$/, '$1.js'), external: true },
          ),
      },
    ],
  });
  for (const place of copied) await cp(path.join(packageRoot, place), path.join(dir, place), { recursive: true });
  await symlink(path.join(packageRoot, 'node_modules'), path.join(dir, 'node_modules'));
}
