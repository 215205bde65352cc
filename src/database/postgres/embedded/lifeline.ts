import { randomBytes } from 'node:crypto';
import { closeSync, constants, existsSync, openSync, writeSync } from 'node:fs';
import { chown, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { embeddedFailed } from './failure.ts';
import type { Home } from './home.ts';
import { isAlive } from './process-identity.ts';
import { run } from './run.ts';

const { O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = constants;

/**
 * One process's share in a running PostgreSQL. The kernel keeps count: every process holds the write end of a named
 * pipe, the lifeline, and the supervisor reads it. However processes end, the last one's end closes the pipe, and
 * PostgreSQL shuts down.
 */
export interface Hold {
  /** Gives up the share. Returns whether other processes still have one. */
  release(): boolean;
  /** Whether other processes have a share; asked after `release`. */
  isHeld(): boolean;
}

/** Each process also keeps this pipe open for reading: opening it for writing fails once no process does. */
const presenceOf = (lifeline: string): string => `${lifeline}.presence`;

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

function holdOf(lifeline: string, writeEnd: number): Hold {
  const present = openSync(presenceOf(lifeline), O_RDONLY | O_NONBLOCK);
  const isHeld = () => {
    try {
      closeSync(openSync(presenceOf(lifeline), O_WRONLY | O_NONBLOCK));
      return true;
    } catch {
      return false;
    }
  };
  return {
    isHeld,
    release() {
      closeSync(present);
      const others = isHeld();
      closeSync(writeEnd);
      return others;
    },
  };
}

const lifelineName = /^lifeline-(\d+)-/;

/** Creates the pipes of a PostgreSQL that this process is about to start. */
export async function makeLifeline({ pipes, user }: Home): Promise<string> {
  await mkdir(pipes, { recursive: true, mode: 0o700 });
  if (user) await chown(pipes, user.uid, user.gid);
  const lifeline = join(pipes, `lifeline-${process.pid}-${randomBytes(4).toString('hex')}`);
  const { code, output } = await run('mkfifo', ['-m', '600', lifeline, presenceOf(lifeline)], user);
  if (code === 0) return lifeline;
  throw embeddedFailed(
    `Cannot create a named pipe in ${pipes}: ${output.trim()}`,
    'Use a dir on a local file system, or set DATABASE_URL.',
  );
}

/**
 * Removes pipes that killed processes left behind. Call it only right after starting PostgreSQL, when no other process
 * has pipes here.
 */
export async function dropAbandonedLifelines({ pipes }: Home): Promise<void> {
  for (const name of await readdir(pipes)) {
    const maker = lifelineName.exec(name)?.[1];
    if (maker && !isAlive(Number(maker))) await rm(join(pipes, name), { force: true });
  }
}

/** Opens both ends: one for this process, one for the supervisor to inherit. */
export function openLifeline(lifeline: string): { hold: Hold; supervisorEnd: number } {
  // opening only one end would block until the other is opened
  const both = openSync(lifeline, O_RDWR);
  const supervisorEnd = openSync(lifeline, O_RDONLY);
  const hold = holdOf(lifeline, openSync(lifeline, O_WRONLY));
  closeSync(both);
  return { hold, supervisorEnd };
}

/**
 * Takes a share in a running PostgreSQL. `closing`: its last process has left. `unsupervised`: nothing reads the
 * lifeline, because the supervisor was killed.
 */
export function takeHold(lifeline: string): Hold | 'closing' | 'unsupervised' {
  let end: number;
  try {
    end = openSync(lifeline, O_WRONLY | O_NONBLOCK);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return 'closing';
    if (codeOf(error) === 'ENXIO') return 'unsupervised';
    throw error;
  }
  try {
    // The supervisor renames the lifeline before it checks for a last-minute line: if the name still exists, ours
    // counts.
    writeSync(end, '\n');
    if (existsSync(lifeline)) return holdOf(lifeline, end);
  } catch (error) {
    if (codeOf(error) !== 'EPIPE' && codeOf(error) !== 'ENOENT') throw error;
  }
  closeSync(end);
  return 'closing';
}
