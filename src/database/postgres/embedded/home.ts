import { createHash } from 'node:crypto';
import { chmod, lstat, mkdir, readFile, realpath, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { embeddedFailed } from './failure.ts';
import { canReach } from './reachable.ts';
import { postgresUser, type SystemUser } from './system-user.ts';

/** The paths of one cluster. A rename creates `cluster`, so it is either complete or absent. */
export interface Home {
  dir: string;
  base: string;
  cluster: string;
  data: string;
  password: string;
  log: string;
  /** Folder of the lifelines; belongs to the user that runs PostgreSQL. */
  pipes: string;
  runtime: string;
  user: SystemUser | undefined;
}

const layout = (dir: string, base: string) => ({
  dir,
  base,
  cluster: join(base, 'cluster'),
  data: join(base, 'cluster', 'data'),
  password: join(base, 'cluster', 'password'),
  log: join(dir, 'postgres.log'),
  pipes: join(base, 'pipes'),
  runtime: join(dir, 'running.json'),
});

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

async function recordedBase(dir: string): Promise<string | undefined> {
  const location = join(dir, 'location');
  const base = (await readFile(location, 'utf8').catch(() => '')).trim();
  if (!base || (await exists(base))) return base || undefined;
  throw embeddedFailed(
    `${location} says that the data is in ${base}, which no longer exists.`,
    `Restore ${base}, or delete ${location} to start with an empty database.`,
    { details: { location, base } },
  );
}

// Systems delete old files in /tmp one by one, which corrupts a database, so it is only the last resort.
const shelters = (dir: string): string[] => {
  const name = `lanefold-${createHash('sha256').update(dir).digest('hex').slice(0, 16)}`;
  return [join('/var/lib', name), join(tmpdir(), name)];
};

async function shelter(dir: string, user: SystemUser): Promise<string> {
  for (const base of shelters(dir)) {
    try {
      if (await mkdir(base, { recursive: true })) await chmod(base, 0o711);
      const found = await lstat(base);
      if (!found.isDirectory() || found.uid !== 0 || !(await canReach(base, user))) continue;
      await writeFile(join(dir, 'location'), `${base}\n`);
      return base;
    } catch {
      continue;
    }
  }
  throw embeddedFailed(
    `PostgreSQL cannot run as root, and the user it would run as instead (uid ${user.uid}) cannot enter ${dir}.`,
    'Use a dir that every user can traverse, do not run as root, or set DATABASE_URL.',
  );
}

/** The home of `dir` if it exists. Creates nothing. */
export async function findHome(dir: string): Promise<Home | undefined> {
  const real = await realpath(resolve(dir)).catch(() => undefined);
  if (!real) return undefined;
  const parts = layout(real, (await recordedBase(real)) ?? real);
  return { ...parts, user: await postgresUser(parts.data) };
}

/**
 * The home of `dir`, created if missing. As root, it is elsewhere if the user that runs PostgreSQL cannot enter `dir`.
 */
export async function openHome(dir: string): Promise<Home> {
  await mkdir(resolve(dir), { recursive: true });
  const home = await findHome(dir);
  if (!home) throw embeddedFailed(`${dir} was deleted while it was being opened.`, 'Try again.');
  if (!home.user || (await canReach(home.base, home.user))) return home;
  if (!(await exists(home.cluster)))
    return { ...layout(home.dir, await shelter(home.dir, home.user)), user: home.user };
  throw embeddedFailed(
    `The user that owns ${home.data} (uid ${home.user.uid}) cannot enter ${home.base}.`,
    'Let that user traverse its parent folders (chmod o+x), or move the dir.',
  );
}
