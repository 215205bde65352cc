import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { run } from './run.ts';

/** Whether a process with this id exists, under any user. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** The command line of a process. */
export interface Command {
  program: string;
  line: string;
}

/** The command of a process, read from /proc, or from ps on macOS; undefined if there is no such process. */
export async function commandOf(pid: number): Promise<Command | undefined> {
  if (process.platform === 'linux') {
    const argv = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
    return argv[0] ? { program: argv[0], line: argv.join(' ') } : undefined;
  }
  const [comm, args] = await Promise.all(
    ['comm=', 'args='].map((column) => run('ps', ['-ww', '-o', column, '-p', String(pid)])),
  );
  return comm?.output.trim() ? { program: comm.output.trim(), line: args?.output.trim() ?? '' } : undefined;
}

/** Whether a command is a postmaster of this data dir. To be safe, one that does not name its dir counts as one. */
export const isPostmasterOf = (command: Command, data: string): boolean =>
  basename(command.program) === 'postgres' && (command.line.includes(data) || !command.line.includes(' -D '));

/** A setting that PostgreSQL ignores; on its command line it names the lifeline of a postmaster. */
export const lifelineSetting = 'lanefold.lifeline';

/** The name of a postmaster's lifeline; undefined if Lanefold did not start it. */
export const lifelineOf = (command: Command): string | undefined =>
  /lanefold\.lifeline=([\w-]+)/.exec(command.line)?.[1];
