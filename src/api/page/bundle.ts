import { readFile } from 'node:fs/promises';
import path from 'node:path';

/** The files of the page by name. */
export type PageFiles = ReadonlyMap<string, Uint8Array>;

/** Bundles the page from its sources in a checkout. */
export async function bundlePage(sources: string): Promise<PageFiles> {
  // A checkout has esbuild and rolldown, the published package has the bundle.
  const [{ build }, { minify }] = await Promise.all([import('esbuild'), import('rolldown/utils')]);
  const { outputFiles } = await build({
    entryPoints: { app: path.join(sources, 'app.tsx') },
    outdir: sources,
    write: false,
    bundle: true,
    // views load the code that only they need on demand
    splitting: true,
    chunkNames: '[name]-[hash]',
    minify: true,
    format: 'esm',
    target: ['es2022', 'chrome123', 'firefox128', 'safari17.5'],
    tsconfig: path.join(sources, 'tsconfig.json'),
    legalComments: 'none',
    logLevel: 'silent',
  });
  // esbuild's minifier assigns short names in an order that compresses 4 % worse
  const smaller = async (file: string, contents: Uint8Array, text: string): Promise<Uint8Array> => {
    if (!file.endsWith('.js')) return contents;
    const { code, errors } = await minify(file, text, { module: true });
    if (errors.length > 0) throw errors[0]!;
    return Buffer.from(code);
  };
  const files = new Map<string, Uint8Array>();
  for (const { path: file, contents, text } of outputFiles)
    files.set(path.basename(file), await smaller(file, contents, text));
  files.set('index.html', await readFile(path.join(sources, 'index.html')));
  return files;
}
