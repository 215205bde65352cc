import { register } from 'node:module';

// Source text rather than a function, because module hooks run in their own thread from their own module.
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
 * Treats files with `import` or `export` as ES modules even if no package.json says so. Node does this by itself for
 * JavaScript, but tsx would load such a file as CommonJS and fail.
 */
export const detectModules = (): void => register(`data:text/javascript,${encodeURIComponent(hook)}`);
