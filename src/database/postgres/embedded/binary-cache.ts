import { createHash, randomUUID } from 'node:crypto';
import { chmod, cp, lstat, mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { embeddedFailed } from './failure.ts';
import { canReach } from './reachable.ts';
import { listedLinks, makeLinks } from './symlinks.ts';
import { isRoot, type SystemUser } from './system-user.ts';
import { parseJson } from '../../../base/common/json.ts';

const cacheHomes = (): string[] => {
  const asked = process.env.XDG_CACHE_HOME;
  return [
    ...(asked ? [join(asked, 'lanefold')] : []),
    isRoot() ? '/var/cache/lanefold' : join(homedir(), '.cache', 'lanefold'),
    join(tmpdir(), `lanefold-cache-${process.geteuid?.()}`),
  ];
};

// The files in the cache are executed, so other users must not be able to write to it.
async function isTrusted(folder: string): Promise<boolean> {
  const found = await lstat(folder);
  return found.isDirectory() && found.uid === process.geteuid?.() && (found.mode & 0o022) === 0;
}

async function cacheHome(user: SystemUser | undefined): Promise<string> {
  for (const home of cacheHomes()) {
    try {
      if (await mkdir(home, { recursive: true })) await chmod(home, 0o755);
      if ((await isTrusted(home)) && (await canReach(home, user))) return home;
    } catch {
      continue;
    }
  }
  throw embeddedFailed(
    `The PostgreSQL binaries must be copied to a cache, but none of ${cacheHomes().join(', ')} is usable.`,
    'Make one of them a folder that only you can write to, or set LANEFOLD_POSTGRES_BIN to an installed PostgreSQL.',
  );
}

async function cacheKey(native: string): Promise<string> {
  const version = await readFile(join(native, '..', 'package.json'), 'utf8').then(
    (text) => (parseJson(text) as { version?: string }).version,
    () => undefined,
  );
  const { size, mtimeMs } = await stat(join(native, 'bin', 'postgres'));
  const content = createHash('sha256')
    .update(`${size} ${version ?? `${native} ${mtimeMs}`}`)
    .digest('hex')
    .slice(0, 8);
  return `postgres-${version ?? 'unversioned'}-${process.platform}-${process.arch}-${content}`;
}

async function openToAll(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isSymbolicLink()) continue;
    const path = join(entry.parentPath, entry.name);
    const { mode } = await stat(path);
    await chmod(path, (mode & 0o755) | 0o444 | (mode & 0o100 ? 0o111 : 0));
  }
  await chmod(folder, 0o755);
}

/**
 * A copy of a package's `native` folder that `user` can execute and that has all its links; made once per version. A
 * rename puts the finished copy in place, so processes that copy concurrently do not interfere.
 */
export async function cachedNative(native: string, user: SystemUser | undefined): Promise<string> {
  const home = await cacheHome(user);
  const ready = join(home, await cacheKey(native), 'native');
  const copied = () =>
    stat(ready).then(
      () => true,
      () => false,
    );
  if (await copied()) return ready;

  const draft = join(home, `draft-${randomUUID()}`);
  try {
    await cp(native, join(draft, 'native'), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => !path.endsWith('.a'),
    });
    await makeLinks(join(draft, 'native'), (await listedLinks(native)) ?? []);
    await openToAll(draft);
    await rename(draft, join(ready, '..'));
  } catch (error) {
    if (!(await copied())) throw error;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return ready;
}
