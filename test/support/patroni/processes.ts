import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, closeSync, readdirSync, readFileSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { spawnAs, type SystemUser } from '../../../src/database/postgres/embedded/system-user.ts';

export interface Program {
  pid: number;
  /** Ends the program with SIGKILL; resolves once it has ended. */
  kill(): Promise<void>;
}

export interface Launch {
  /** Program and arguments. */
  command: readonly string[];
  /** Receives what the program prints. */
  log: string;
  user: SystemUser | undefined;
  env?: Record<string, string>;
  /** The data folder of a PostgreSQL that the program starts, and that ends with it. */
  data?: string;
}

// Descriptor 3 is a pipe to this process. The system closes it however this process ends, and then the shell kills what
// it started. It prints the program's id first.
const script = `data=$1; shift; "$@" 3<&- >&4 2>&4 & P=$!; echo $P; exec >&-; read -r end <&3; kill -KILL $P
M=$(head -n 1 "$data/postmaster.pid" 2>/dev/null) && grep -q "$data" "/proc/$M/cmdline" && kill -KILL "$M"; wait $P`;

/** Starts a program that ends with this process, even if this process is killed. */
export async function launch({ command, log, user, env = {}, data = '' }: Launch): Promise<Program> {
  const logFd = openSync(log, 'a');
  const shell = spawn('/bin/sh', ['-c', script, 'lanefold-test', data, ...command], {
    ...spawnAs(user),
    cwd: '/',
    detached: true,
    env: { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8', ...env },
    stdio: ['ignore', 'pipe', 'ignore', 'pipe', logFd],
  });
  closeSync(logFd);
  const exited = once(shell, 'exit');
  const lifeline = shell.stdio[3] as Writable;
  lifeline.on('error', () => {});
  const [pid] = (await once(shell.stdout!, 'data')) as [Buffer];
  return {
    pid: Number(pid.toString()),
    async kill() {
      lifeline.end();
      await exited;
    },
  };
}

/** The PostgreSQL that runs in a data folder: its id may have been given to another process since. */
export function postmasterOf(data: string): number | undefined {
  try {
    const [pid] = readFileSync(`${data}/postmaster.pid`, 'utf8').split('\n');
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(data) ? Number(pid) : undefined;
  } catch {
    return undefined;
  }
}

/** A process and everything it has started, and so on; Linux only. */
export function familyOf(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      // after the name, which may contain spaces: state, then the parent
      const [, parent] = readFileSync(`/proc/${name}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ');
      parents.set(Number(name), Number(parent));
    } catch {
      // it has ended
    }
  }
  const family = [pid];
  for (const member of family) for (const [child, parent] of parents) if (parent === member) family.push(child);
  return family;
}

/** Sends a signal to processes, of which some may have ended. */
export function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}
