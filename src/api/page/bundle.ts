import { readFile } from 'node:fs/promises';
import path from 'node:path';

/** The files of the page by name. */
export type PageFiles = ReadonlyMap<string, Uint8Array>;

/** Bundles the page from its sources in a checkout; the published package has the bundle. */
export async function bundlePage(sources: string): Promise<PageFiles> {
  const [scripts, styles, index] = await Promise.all([
    bundleScripts(sources),
    bundleStyles(sources),
    readFile(path.join(sources, 'index.html')),
  ]);
  return new Map([...scripts, ['app.css', styles], ['index.html', index]]);
}

/** `app.js`, and a file for each part that is loaded on demand, which takes what it shares from `app.js`. */
async function bundleScripts(sources: string): Promise<[name: string, content: Uint8Array][]> {
  const { build } = await import('rolldown');
  const { output } = await build({
    input: { app: path.join(sources, 'app.tsx') },
    tsconfig: path.join(sources, 'tsconfig.json'),
    preserveEntrySignatures: 'allow-extension',
    transform: { target: ['es2022', 'chrome123', 'firefox128', 'safari17.5'] },
    output: {
      ...{ format: 'esm', minify: true, entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
      // left to choose, rolldown may move what all parts share to a file that `app.js` would have to wait for
      codeSplitting: { groups: [{ name: 'app', tags: ['$initial'] }] },
    },
    write: false,
    logLevel: 'silent',
  });
  return output.map((file) => [file.fileName, Buffer.from(file.type === 'chunk' ? file.code : file.source)]);
}

async function bundleStyles(sources: string): Promise<Uint8Array> {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    entryPoints: [path.join(sources, 'styles/index.css')],
    write: false,
    bundle: true,
    minify: true,
    target: ['chrome123', 'firefox128', 'safari17.5'],
    logLevel: 'silent',
  });
  return outputFiles[0]!.contents;
}
