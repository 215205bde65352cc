import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { podman } from './podman.ts';

/** The images that the Dockerfile and docker-compose.yml start from. */
export const bases = [
  'docker.io/library/node:22-bookworm-slim',
  'docker.io/library/postgres:18',
  'docker.io/library/redis:7',
] as const;

/** Whether the image of PostgreSQL has a `pg_dump` of its own version, as the official one has. */
export function dumps(): boolean {
  const [, image] = bases;
  const { status, stdout } = spawnSync('podman', ['run', '--rm', '--network=none', image, 'pg_dump', '--version'], {
    encoding: 'utf8',
  });
  return status === 0 && stdout.includes(` ${image.split(':')[1]}.`);
}

/**
 * Builds the image as `docker build .` does. The digest of its base goes, and the build sees this machine's settings of npm
 * and its certificates, which may be needed to reach a registry.
 */
export async function buildImage(tag: string, folder: string): Promise<void> {
  const dockerfile = path.join(folder, 'Dockerfile');
  await writeFile(dockerfile, readFileSync('Dockerfile', 'utf8').replaceAll(/@sha256:[0-9a-f]{64}/g, ''));
  const settings = execFileSync('npm', ['config', 'get', 'userconfig'], { encoding: 'utf8' }).trim();
  const certificates = process.env['NODE_EXTRA_CA_CERTS'];
  await podman(
    ...['build', '--pull=never', '--network=host', `--file=${dockerfile}`, `--tag=${tag}`],
    ...(existsSync(settings) ? [`--volume=${settings}:/root/.npmrc:ro`] : []),
    ...(certificates
      ? [`--volume=${certificates}:${certificates}:ro`, `--env=NODE_EXTRA_CA_CERTS=${certificates}`]
      : []),
    '.',
  );
}

/** An image that differs from another one in the version of the package alone: what an upgrade within a schema brings. */
export async function buildNextVersion(tag: string, from: string, version: string, folder: string): Promise<void> {
  const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as object;
  await writeFile(path.join(folder, 'package.json'), JSON.stringify({ ...manifest, version }));
  await writeFile(path.join(folder, 'Next'), `FROM ${from}\nCOPY package.json ./\n`);
  await podman('build', '--pull=never', `--file=${path.join(folder, 'Next')}`, `--tag=${tag}`, folder);
}

/** Bytes that the image adds to its base: the sum of its layers after those of the base. */
export async function addedBytes(image: string, base: string): Promise<number> {
  const sizeOf = async (name: string) => Number(await podman('image', 'inspect', '--format={{.Size}}', name));
  return (await sizeOf(image)) - (await sizeOf(base));
}
