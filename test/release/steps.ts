import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { schemaVersion } from '../../db/schema/version.ts';

interface Release {
  /** The copy of the sources. */
  source: string;
  out: string;
  version: string;
}
type Done = { ok: string } | { skipped: string } | { failed: string };

interface Manifest {
  repository?: { url: string };
  publishConfig?: { access?: string; provenance?: boolean };
  scripts: Record<string, string>;
}

/** A program, without the settings that npm passes to its scripts. */
function run(cwd: string, command: string, ...args: string[]): { ok: boolean; said: string } {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')));
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    env,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  return { ok: status === 0, said: error ? error.message : `${stdout}${stderr}`.trim() };
}

const last = (said: string): string => said.split('\n').slice(-8).join('\n            ');
const manifestOf = ({ source }: Release) =>
  JSON.parse(readFileSync(path.join(source, 'package.json'), 'utf8')) as Manifest;
const bytes = (file: string): string => `${statSync(file).size.toLocaleString('en')} bytes`;

function provenance(release: Release): Done {
  const { publishConfig, repository } = manifestOf(release);
  if (publishConfig?.provenance !== true || publishConfig.access !== 'public')
    return { failed: 'publishConfig of package.json must have provenance true and access public' };
  if (!repository) return { ok: 'requested; package.json names no repository yet, see 3.' };
  return { ok: `requested, from ${repository.url}` };
}

function docs(release: Release): Done {
  const pages = path.join(release.source, 'docs/api');
  const textOf = () => readdirSync(pages).map((name) => readFileSync(path.join(pages, name), 'utf8'));
  const before = textOf();
  const api = run(release.source, 'npm', 'run', '--silent', 'docs:api');
  if (!api.ok) return { failed: last(api.said) };
  if (before.join('\0') !== textOf().join('\0'))
    return { failed: 'docs/api is stale: run npm run docs:api, and commit' };
  if (!manifestOf(release).scripts['docs:site']) return { ok: 'docs/api is current; there is no script docs:site' };
  const site = run(release.source, 'npm', 'run', '--silent', 'docs:site');
  return site.ok ? { ok: 'docs/api is current, and the site is built in the copy' } : { failed: last(site.said) };
}

const tarball = ({ out, version }: Release): string => path.join(out, `lanefold-${version}.tgz`);

function pack(release: Release): Done {
  const packed = run(release.source, 'npm', 'run', '--silent', 'package:check');
  const file = path.join(release.source, '.lanefold/package', path.basename(tarball(release)));
  if (existsSync(file)) copyFileSync(file, tarball(release));
  return packed.ok ? { ok: `${tarball(release)}, ${bytes(tarball(release))}, checked` } : { failed: last(packed.said) };
}

/** The package that later releases are upgraded from in tests, without what no program reads. */
function upgradeBase(release: Release): Done {
  if (!existsSync(tarball(release))) return { skipped: 'there is no package' };
  const folder = path.join(release.out, 'base');
  mkdirSync(folder);
  const unpacked = run(folder, 'tar', 'xzf', tarball(release));
  if (!unpacked.ok) return { failed: last(unpacked.said) };
  const root = path.join(folder, 'package');
  for (const name of ['docs', 'skills']) rmSync(path.join(root, name), { recursive: true, force: true });
  for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' }))
    if (/\.(map|md|d\.ts)$/.test(name) || /migrations\/meta\/.*snapshot/.test(name)) rmSync(path.join(root, name));
  const file = path.join(release.out, `schema-${schemaVersion}.tgz`);
  const base = run(folder, 'tar', 'czf', file, 'package');
  rmSync(folder, { recursive: true });
  return base.ok ? { ok: `${file}, ${bytes(file)}` } : { failed: last(base.said) };
}

/** A container tool keeps its images outside of the folder unless it is told where: so it writes a file. */
function image(release: Release): Done {
  if (!run('.', 'docker', 'info').ok) return { skipped: 'no Docker daemon answers' };
  if (!run('.', 'docker', 'buildx', 'version').ok)
    return { skipped: 'Docker has no buildx, which writes an image to a file' };
  const file = path.join(release.out, `image-${release.version}.tar`);
  const to = [`--tag=lanefold:${release.version}`, `--output=type=docker,dest=${file}`];
  // node_modules of the copy is a link, which the context does not follow
  const built = run(release.source, 'docker', 'buildx', 'build', ...to, '.');
  return built.ok ? { ok: `${file}, ${bytes(file)}` } : { failed: last(built.said) };
}

/** In their order; the upgrade base is made of the package. */
export const steps = { provenance, docs, package: pack, base: upgradeBase, image } satisfies Record<
  string,
  (release: Release) => Done
>;
export type StepName = keyof typeof steps;
export const stepNames = Object.keys(steps) as StepName[];
