#!/usr/bin/env node
// The one entry of the command line, plain JavaScript at the same path in a checkout and in the published package
// (package.json: "bin" and "files"), so that `bin` needs no build. A checkout is known by its tsconfig.json, which is
// never published: there the sources run through tsx, elsewhere the build under dist/ does. Node resolves links before
// it runs a program, so this also holds when started through node_modules/.bin or from another folder.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const tsconfig = fileURLToPath(new URL('../../tsconfig.json', import.meta.url));
const inCheckout = existsSync(tsconfig);
if (inCheckout) {
  const { register } = await import('tsx/esm/api');
  // ours, not one of the folder the command is started in
  register({ tsconfig });
}
const { main } = await import(inCheckout ? './main.ts' : '../../dist/src/cli/main.js');
process.exitCode = await main(process.argv.slice(2));
