import { cp, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { build, type Plugin } from 'esbuild';
import { packageRoot } from '../../src/base/environment.ts';

const { files, exports } = JSON.parse(await readFile(path.join(packageRoot, 'package.json'), 'utf8')) as {
  files: string[];
  exports: Record<string, { default: string }>;
};
/** What is published, and the programs that tests start as separate processes. */
const published = [
  ...Object.values(exports).map((entry) => entry.default.replace('./dist/', '').replace(/js$/, 'ts')),
  'src/ops/cli/main.ts',
];
const programs = ['workers', 'test/support', 'test/faults/fixtures', 'test/postgres/fixtures', 'test/queue/fixtures'];
const bundled = ['pg', 'ioredis', 'bullmq', 'commander'];
const installed = (await readdir(path.join(packageRoot, 'node_modules'))).filter((name) => !name.startsWith('.'));
const copied = ['package.json', ...files.filter((file) => file !== 'dist' && !file.startsWith('!'))];

/**
 * Builds the package in `dir` with its published layout. Tests start hundreds of processes, and a compiled one starts
 * twice as fast as one that compiles the sources first; bundling the libraries that take longest to load halves it again.
 */
export async function buildPackage(dir: string, plugins: Plugin[] = []): Promise<void> {
  const files = await Promise.all(
    programs.map(async (folder) =>
      (await readdir(path.join(packageRoot, folder))).map((file) => path.join(folder, file)),
    ),
  );
  await build({
    absWorkingDir: packageRoot,
    entryPoints: [...published, ...files.flat().filter((file) => file.endsWith('.ts'))],
    outdir: path.join(dir, 'dist'),
    outbase: '.',
    format: 'esm',
    platform: 'node',
    target: 'node20',
    bundle: true,
    splitting: true,
    external: installed.filter((name) => !bundled.includes(name)).flatMap((name) => [name, `${name}/*`]),
    // bullmq has no `exports`
    mainFields: ['module', 'main'],
    banner: { js: "import { createRequire as _ } from 'node:module'; const require = _(import.meta.url);" },
    chunkNames: 'chunks/[name]-[hash]',
    plugins,
  });
  for (const place of copied) await cp(path.join(packageRoot, place), path.join(dir, place), { recursive: true });
  await symlink(path.join(packageRoot, 'node_modules'), path.join(dir, 'node_modules'));
  await writeFile(
    path.join(dir, 'tsconfig.programs.json'),
    JSON.stringify({ compilerOptions: await compilerOptions(dir) }),
  );
}

/** Those of this repository, with `lanefold` standing for the built package. */
async function compilerOptions(dir: string): Promise<object> {
  const text = await readFile(path.join(packageRoot, 'tsconfig.json'), 'utf8');
  const { compilerOptions } = JSON.parse(text) as { compilerOptions: { paths: Record<string, [string]> } };
  const built = (source: string) => path.join(dir, 'dist', source.replace(/ts$/, 'js'));
  const paths = Object.entries(compilerOptions.paths).map(([name, [source]]) => [name, [built(source)]]);
  return { ...compilerOptions, paths: Object.fromEntries(paths) as object };
}
