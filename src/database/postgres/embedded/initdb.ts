import { randomBytes } from 'node:crypto';
import { appendFile, chown, lchown, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Binaries } from './binaries.ts';
import { embeddedFailed, failedWithLog } from './failure.ts';
import type { Home } from './home.ts';
import { lastLines } from './launch.ts';
import { isAlive } from './process-identity.ts';
import { run } from './run.ts';
import type { SystemUser } from './system-user.ts';

// PostgreSQL 17 introduced its own C.UTF-8, identical on every system; older versions depend on the libc.
const locales = (major: number): string[][] =>
  major >= 17
    ? [['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']]
    : [['--locale=C.UTF-8'], ['--locale=C']];

async function fill(draft: string, binaries: Binaries, user: SystemUser | undefined) {
  const password = join(draft, 'password');
  await writeFile(password, randomBytes(24).toString('base64url'), { mode: 0o600 });
  if (user) await Promise.all([draft, password].map((path) => chown(path, user.uid, user.gid)));
  const args = ['-D', join(draft, 'data'), '-U', 'postgres', '-E', 'UTF8', '-A', 'scram-sha-256'];
  let result = { code: -1, output: '' };
  for (const locale of locales(binaries.major)) {
    result = await run(binaries.initdb, [...args, `--pwfile=${password}`, '--no-instructions', ...locale], user);
    if (!/invalid locale name/.test(result.output)) break;
  }
  return result;
}

const draftName = /^draft-(\d+)-/;

async function dropAbandonedDrafts(base: string): Promise<void> {
  for (const name of await readdir(base)) {
    const maker = draftName.exec(name)?.[1];
    if (maker && !isAlive(Number(maker))) await rm(join(base, name), { recursive: true, force: true });
  }
}

/**
 * Creates the cluster if there is none. initdb works in a draft folder that is then renamed, so an interruption leaves
 * no partial cluster.
 */
export async function ensureCluster(home: Home, binaries: Binaries): Promise<void> {
  await dropAbandonedDrafts(home.base);
  if (await stat(home.cluster).catch(() => undefined)) return;
  const draft = await mkdtemp(join(home.base, `draft-${process.pid}-`));
  try {
    const { code, output } = await fill(draft, binaries, home.user);
    await appendFile(home.log, output, { mode: 0o600 }).catch(() => undefined);
    if (code !== 0) throw await failedWithLog('initdb failed.', { path: home.log, tail: lastLines(output) });
    // If this fails because another process was faster, use its cluster.
    await rename(draft, home.cluster).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Rejects data of another major version, which these binaries cannot read. */
export async function assertSameMajor(home: Home, binaries: Binaries): Promise<void> {
  const major = (await readFile(join(home.data, 'PG_VERSION'), 'utf8')).trim();
  if (major === String(binaries.major)) return;
  throw embeddedFailed(
    `${home.data} was created by PostgreSQL ${major}, but the binaries in ${binaries.bin} are PostgreSQL ${binaries.version}.`,
    `Set LANEFOLD_POSTGRES_BIN to the bin folder of PostgreSQL ${major}, copy the data to a new dir with pg_dump and ` +
      'pg_restore, or delete the dir to start with an empty database.',
    { details: { dataMajor: Number(major), binaryVersion: binaries.version } },
  );
}

/**
 * Changes the owner of data that belongs to root (copied into an image, restored from a backup) to the user that runs
 * PostgreSQL.
 */
export async function giveToUser(home: Home): Promise<void> {
  const { user } = home;
  if (!user || (await stat(home.data)).uid === user.uid) return;
  for (const entry of await readdir(home.cluster, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (path !== home.data) await lchown(path, user.uid, user.gid);
  }
  // The data folder comes last: its owner marks the change as complete.
  for (const path of [home.cluster, home.data]) await lchown(path, user.uid, user.gid);
}
