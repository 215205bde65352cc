import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';

const folder = path.join(import.meta.dirname, 'page');

/** The page for browsers. A framework with a build of its own, such as Next, does this for you. */
export async function bundlePage(): Promise<{ html: string; script: string }> {
  const { outputFiles } = await build({
    entryPoints: [path.join(folder, 'chat.tsx')],
    tsconfig: path.join(folder, 'tsconfig.json'),
    define: { 'process.env.NODE_ENV': '"production"' },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    logLevel: 'warning',
  });
  return { html: await readFile(path.join(folder, 'index.html'), 'utf8'), script: outputFiles[0]!.text };
}
