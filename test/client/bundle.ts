import { build, type Platform } from 'esbuild';

/** The program of an entry point with everything it imports but React, as a bundler ships it. */
export async function bundle(
  entry: 'client' | 'react',
  { platform = 'browser', conditions = [] }: { platform?: Platform; conditions?: string[] } = {},
): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [`src/doors/${entry}/index.ts`],
    platform,
    conditions,
    external: ['react'],
    bundle: true,
    minify: true,
    write: false,
    target: 'es2022',
    format: entry === 'client' ? 'iife' : 'esm',
    globalName: 'lanefold',
    logLevel: 'error',
  });
  return outputFiles[0]!.text;
}
