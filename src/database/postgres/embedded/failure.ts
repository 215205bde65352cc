import { statfs } from 'node:fs/promises';
import { LanefoldError, isLanefoldError } from '../../../base/errors.ts';

const lowDisk = 200 * 1024 * 1024;

const hints: [pattern: RegExp, hint: string][] = [
  [/No space left on device|free disk space|ENOSPC|EDQUOT/i, 'The disk is full: free some space and try again.'],
  [
    /could not look up effective user ID/i,
    'The current uid has no entry in /etc/passwd: add one, or set DATABASE_URL.',
  ],
  [
    /error while loading shared libraries|symbol not found|GLIBC|Library not loaded/i,
    'These binaries do not run on this system (musl, or an old libc): install PostgreSQL and set LANEFOLD_POSTGRES_BIN to its bin folder, or set DATABASE_URL.',
  ],
  [
    /Permission denied|EACCES|EPERM|wrong ownership/i,
    'The user that runs PostgreSQL has no access to this folder: use another dir, or fix its owner.',
  ],
  [/EROFS|Read-only file system/i, 'The folder is read-only: use a writable dir.'],
  [
    /could not create shared memory|could not resize shared memory/i,
    'Shared memory is too small: give the container a larger /dev/shm, or lower shared_buffers in `settings`.',
  ],
  [
    /unrecognized configuration parameter|invalid value for parameter|configuration file "[^"\n]*" contains errors/i,
    'Fix the `settings` you passed.',
  ],
];

/** The hint for a failure, derived from its text. */
export const hintFor = (text: string): string | undefined => hints.find(([pattern]) => pattern.test(text))?.[1];

/** Every failure of the embedded PostgreSQL has this code. */
export const embeddedFailed = (
  message: string,
  hint: string,
  more: { details?: Record<string, unknown>; cause?: unknown } = {},
): LanefoldError => new LanefoldError('embedded_postgres_failed', message, { hint, ...more });

/**
 * A failure of PostgreSQL itself, with the end of its log. A full disk often leaves no log, so this measures free
 * space.
 */
export async function failedWithLog(what: string, log: { path: string; tail: string }): Promise<LanefoldError> {
  const free = await statfs(log.path, { bigint: false }).then(
    (disk) => disk.bavail * disk.bsize,
    () => Infinity,
  );
  const full =
    free < lowDisk ? `This disk has only ${Math.round(free / 2 ** 20)} MiB left: free some space.` : undefined;
  const hint = hintFor(log.tail) ?? full ?? `Read ${log.path}, or set DATABASE_URL to use your own database.`;
  return embeddedFailed(`${what}\n${log.tail || '(the log is empty)'}`, hint, { details: { log: log.path } });
}

/** Wraps an unexpected failure, usually of the file system, in the same error as all others. */
export function asEmbeddedFailure(error: unknown, dir: string): LanefoldError {
  if (isLanefoldError(error)) return error;
  const text = error instanceof Error ? error.message : String(error);
  const hint = hintFor(text) ?? 'Set DATABASE_URL to use your own database.';
  return embeddedFailed(`Cannot start the embedded PostgreSQL in ${dir}: ${text}`, hint, { cause: error });
}
