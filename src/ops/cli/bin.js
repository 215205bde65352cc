#!/usr/bin/env node
// The entry point of the command line. It is plain JavaScript at the same path in a checkout and in the published
// package (package.json: "bin" and "files"), so that `bin` needs no build. A checkout has a tsconfig.json, which is never
// published: there tsx runs the sources, elsewhere the build in dist/ runs. Node resolves links before it runs a
// program, so this also works through node_modules/.bin and from another folder.
import { existsSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

// From Node 22.8 on: the second start need not compile again.
module.enableCompileCache?.();

const tsconfig = fileURLToPath(new URL('../../../tsconfig.json', import.meta.url));
const inCheckout = existsSync(tsconfig);
if (inCheckout) {
  const { register } = await import('tsx/esm/api');
  // Use our tsconfig, not one in the current folder.
  register({ tsconfig });
}
const { main } = await import(inCheckout ? './main.ts' : '../../../dist/src/ops/cli/main.js');
process.exitCode = await main(process.argv.slice(2));
