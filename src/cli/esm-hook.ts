import { register } from 'node:module';

// Runs in the thread of the module hooks, which takes its own module: hence source text, not a function.
const hook = `
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

export async function resolve(specifier, context, next) {
  const found = await next(specifier, context);
  if (found.format !== 'commonjs' || !/\\.[jt]sx?(\\?|$)/.test(found.url) || found.url.includes('/node_modules/')) return found;
  const source = await readFile(fileURLToPath(found.url), 'utf8');
  return /^\\s*(import|export)\\b/m.test(source) ? { ...found, format: 'module' } : found;
}`;

/**
 * Lets files written with `import` and `export` be ES modules where no package.json says so. Node does this for
 * JavaScript by itself; under tsx such a file would be loaded as CommonJS, and fail.
 */
export const detectModules = (): void => register(`data:text/javascript,${encodeURIComponent(hook)}`);
