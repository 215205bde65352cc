import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { schemaVersion } from '../../db/schema/version.ts';
import { packageRoot } from '../../src/base/environment.ts';
import { buildNextRelease } from './next-release.ts';

/** `schema-1.tgz` is the last package of schema version 1. */
const releases = path.join(import.meta.dirname, 'releases');
const released = (existsSync(releases) ? readdirSync(releases) : [])
  .map((file) => Number(/^schema-(\d+)\.tgz$/.exec(file)?.[1]))
  .filter((version) => version < schemaVersion);

/** The schema versions to upgrade from: the released ones, and this one, whose next release is built. */
export const versions = [...released, schemaVersion];

export interface Upgrade {
  /** Folders of the packages. */
  old: string;
  next: string;
  /** The schema version of `next`. */
  to: number;
}

/** Prepares the packages in `dir`; `current` is the folder of this one. */
export async function upgradeFrom(version: number, dir: string, current: string): Promise<Upgrade> {
  if (version === schemaVersion) {
    const next = path.join(dir, 'next');
    await buildNextRelease(next);
    return { old: current, next, to: schemaVersion + 1 };
  }
  const old = path.join(dir, 'old');
  await mkdir(old);
  execFileSync('tar', ['xzf', path.join(releases, `schema-${version}.tgz`), '-C', old, '--strip-components=1']);
  await symlink(path.join(packageRoot, 'node_modules'), path.join(old, 'node_modules'));
  return { old, next: current, to: schemaVersion };
}
