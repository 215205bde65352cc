import { build, type BuildOptions } from 'esbuild';

/** The versions of React that the hooks promise to work with. */
export const reactVersions = ['18', '19'] as const;
export type ReactVersion = (typeof reactVersions)[number];

const packages: Record<ReactVersion, Record<string, string>> = {
  18: { react: 'react-18', 'react-dom': 'react-dom-18' },
  19: {},
};

/** Bundles a file with a version of React, in which effects run twice under StrictMode. */
export async function bundleWithReact(version: ReactVersion, entry: string, options: BuildOptions): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: 'esm',
    jsx: 'automatic',
    jsxDev: false,
    target: 'es2022',
    alias: packages[version],
    // only the development build runs effects twice
    define: { 'process.env.NODE_ENV': '"development"' },
    logLevel: 'error',
    ...options,
  });
  return outputFiles![0]!.text;
}
