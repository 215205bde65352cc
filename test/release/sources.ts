import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

interface Manifest {
  version: string;
  repository?: unknown;
  packages?: Record<string, { version?: string }>;
}

const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8', maxBuffer: 2 ** 26 });
const read = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as Manifest;

const parts = (version: string): number[] => version.split(/[.-]/).slice(0, 3).map(Number);

/** Why this cannot be the next version; undefined if it can. */
export function checkVersion(version: string): string | undefined {
  if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) return `${JSON.stringify(version)} is not a version such as 0.2.0.`;
  if (git('tag', '--list', `v${version}`).trim()) return `The tag v${version} exists already.`;
  const [given, now] = [parts(version), parts(read('package.json').version)];
  const at = given.findIndex((part, i) => part !== now[i]);
  return at >= 0 && given[at]! < now[at]! ? `${version} is below the current version ${now.join('.')}.` : undefined;
}

/** Copies the files of the working tree that git knows. Returns the folder. */
export function copySources(out: string): string {
  const source = path.join(out, 'source');
  const changed = git('status', '--porcelain', '--untracked-files=no').trim();
  if (changed) console.log(`warning     not committed: ${changed.split('\n').length} files`);
  for (const file of git('ls-files', '-z')
    .split('\0')
    .filter((name) => name && existsSync(name))) {
    const to = path.join(source, file);
    mkdirSync(path.dirname(to), { recursive: true });
    cpSync(file, to);
  }
  symlinkSync(path.resolve('node_modules'), path.join(source, 'node_modules'));
  return source;
}

export function setVersion(source: string, version: string, repository: string | undefined): void {
  for (const name of ['package.json', 'package-lock.json']) {
    const file = path.join(source, name);
    const manifest = read(file);
    manifest.version = version;
    if (manifest.packages?.['']) manifest.packages[''].version = version;
    if (repository && name === 'package.json') manifest.repository = { type: 'git', url: repository };
    writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
  }
}
