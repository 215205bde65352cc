import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../common/package-root.ts';
import { UsageError } from './errors.ts';
import { note } from './output.ts';
import { parseJson } from '../common/json.ts';

/**
 * The version or file by which a project in `folder` depends on the package of this command: its version if it came
 * from a registry, else the file it was installed from. Without such a file, as with pnpm, Yarn, git or a deleted file,
 * the package packs itself into `folder`; so does a checkout, whose sources npm cannot install.
 */
export async function ownSpec(folder: string, version: string): Promise<string> {
  if (existsSync(path.join(packageRoot, 'tsconfig.json'))) return `file:${await pack(folder, 'the checkout')}`;
  const source = installedFrom();
  if (source === 'registry') return `^${version}`;
  if (source) return `file:${path.relative(path.resolve(folder), source)}`;
  // an installed package is already built, so skip its scripts
  return `file:${await pack(folder, 'the package installed in', '--ignore-scripts')}`;
}

async function pack(folder: string, what: string, ...more: string[]): Promise<string> {
  note(`packing ${what} ${packageRoot} for the new project`);
  await mkdir(folder, { recursive: true });
  const args = ['pack', '--silent', ...more, '--pack-destination', path.resolve(folder)];
  try {
    const { stdout } = await promisify(execFile)('npm', args, { cwd: packageRoot });
    return stdout.trim().split('\n').at(-1)!;
  } catch (error) {
    throw new UsageError(
      `Cannot pack ${what} ${packageRoot}: ${(error as Error).message}`,
      `Run npm pack in ${packageRoot}, see what fails, and depend on the file it writes.`,
    );
  }
}

/**
 * The tarball that npm or the surrounding project records as the source of this package, or `registry`; undefined if
 * neither is recorded.
 */
function installedFrom(): string | undefined {
  const project = path.resolve(packageRoot, '../..');
  const known = [
    read(path.join(project, 'node_modules/.package-lock.json'))?.packages?.['node_modules/lanefold']?.resolved,
    read(path.join(project, 'package.json'))?.dependencies?.['lanefold'],
  ];
  if (/^https?:.*\/-\/lanefold-[^/]*\.tgz$/.test(known[0] ?? '')) return 'registry';
  const files = known.flatMap((spec) => (spec?.startsWith('file:') ? path.resolve(project, spec.slice(5)) : []));
  return files.find((file) => existsSync(file));
}

interface Manifest {
  dependencies?: Record<string, string>;
  packages?: Record<string, { resolved?: string }>;
}

function read(file: string): Manifest | undefined {
  try {
    return parseJson(readFileSync(file, 'utf8')) as Manifest;
  } catch {
    return undefined;
  }
}
