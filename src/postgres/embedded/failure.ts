import { statfs } from 'node:fs/promises';
import { LanefoldError, isLanefoldError } from '../../errors.ts';

const lowDisk = 200 * 1024 * 1024;

const hints: [pattern: RegExp, hint: string][] = [
  [/No space left on device|free disk space|ENOSPC|EDQUOT/i, 'The disk is full: free some space and start again.'],
  [/could not look up effective user ID/i, 'This uid has no entry in /etc/passwd: add one, or set DATABASE_URL.'],
  [
    /error while loading shared libraries|symbol not found|GLIBC|Library not loaded/i,
    'These binaries do not run on this system (musl, or an old libc): install PostgreSQL and set LANEFOLD_POSTGRES_BIN to its bin folder, or set DATABASE_URL.',
  ],
  [
    /Permission denied|EACCES|EPERM|wrong ownership/i,
    'The user that runs PostgreSQL cannot use this folder: choose another dir, or correct its owner.',
  ],
  [/EROFS|Read-only file system/i, 'The folder is read-only: choose a writable dir.'],
  [
    /could not create shared memory|could not resize shared memory/i,
    'Shared memory is too small: give the container a larger /dev/shm, or lower shared_buffers in `settings`.',
  ],
  [
    /unrecognized configuration parameter|invalid value for parameter|configuration file .* contains errors/i,
    'Correct the `settings` you passed.',
  ],
];

/** What to do about a failure, judged from its text. */
export const hintFor = (text: string): string | undefined => hints.find(([pattern]) => pattern.test(text))?.[1];

/** The one error of this folder: what happened, and what to do. */
export const embeddedFailed = (
  message: string,
  hint: string,
  more: { details?: Record<string, unknown>; cause?: unknown } = {},
): LanefoldError => new LanefoldError('embedded_postgres_failed', message, { hint, ...more });

/** A failure of PostgreSQL itself, with the end of its log. A full disk often leaves no log at all, so it is measured. */
export async function failedWithLog(what: string, log: { path: string; tail: string }): Promise<LanefoldError> {
  const free = await statfs(log.path, { bigint: false }).then(
    (disk) => disk.bavail * disk.bsize,
    () => Infinity,
  );
  const full =
    free < lowDisk ? `Only ${Math.round(free / 2 ** 20)} MiB are free on this disk: free some space.` : undefined;
  const hint = hintFor(log.tail) ?? full ?? `Read ${log.path}, or set DATABASE_URL to use a database of your own.`;
  return embeddedFailed(`${what}\n${log.tail || '(nothing was logged)'}`, hint, { details: { log: log.path } });
}

/** Gives an unforeseen failure (mostly of the file system) the shape every other one has. */
export function asEmbeddedFailure(error: unknown, dir: string): LanefoldError {
  if (isLanefoldError(error)) return error;
  const text = error instanceof Error ? error.message : String(error);
  const hint = hintFor(text) ?? 'Set DATABASE_URL to use a database of your own.';
  return embeddedFailed(`The embedded PostgreSQL of ${dir} could not be started: ${text}`, hint, { cause: error });
}
