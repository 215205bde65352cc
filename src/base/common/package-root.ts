import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseJson } from './json.ts';

/** The folder of package.json: two levels above dist/src in a build, one above src in a checkout. */
export const packageRoot = (() => {
  let folder = path.dirname(fileURLToPath(import.meta.url));
  while (!existsSync(path.join(folder, 'package.json'))) folder = path.dirname(folder);
  return folder;
})();

export const packageVersion = (): string =>
  (parseJson(readFileSync(path.join(packageRoot, 'package.json'), 'utf8')) as { version: string }).version;
