import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Binaries } from './binaries.ts';
import { poll } from './poll.ts';
import { isAlive } from './process-identity.ts';
import { postgresEnv } from './run.ts';
import { spawnAs, type SystemUser } from './system-user.ts';

// Descriptor 3 is a socket to this process, which the kernel closes however we end; then PostgreSQL shuts down.
// The watcher is there before the pid is told, as telling it to a dead process would end the shell.
const script = `
"$@" 3<&- & P=$!
{ read -r end <&3; kill -INT $P; } & W=$!
echo $P >&3
wait $P; S=$?
kill $W
exit $S`;

const stopTimeoutMs = 60_000;

/** A postmaster tied to the life of this process. */
export interface Supervised {
  pid: number;
  exited(): boolean;
  stop(): Promise<void>;
}

/**
 * Starts postgres under a shell in a session of its own: signals to our process group (Ctrl-C) do not reach it, so the
 * application can still use the database while it drains.
 */
export async function supervise(
  binaries: Binaries,
  args: string[],
  logFd: number,
  user: SystemUser | undefined,
): Promise<Supervised> {
  const child = spawn('/bin/sh', ['-c', script, 'lanefold-postgres', binaries.postgres, ...args], {
    ...spawnAs(user),
    cwd: '/',
    env: postgresEnv(),
    detached: true,
    stdio: ['ignore', logFd, logFd, 'pipe'],
  });
  const line = child.stdio[3] as Socket;
  // the other end may vanish first
  line.on('error', () => undefined);
  let gone = false;
  const exit = once(child, 'exit').then(() => void (gone = true));
  const endedEarly = exit.then(() => Promise.reject(new Error('/bin/sh ended before it started postgres')));
  const [told] = (await Promise.race([once(line, 'data'), endedEarly])) as [Buffer];
  const pid = Number(told.toString());
  // a database must not keep a program alive that is otherwise done
  child.unref();
  line.unref();

  const shutDown = async () => {
    child.ref();
    line.end();
    const patience = setTimeout(() => isAlive(pid) && process.kill(pid, 'SIGQUIT'), stopTimeoutMs);
    if (!gone) await exit;
    // outlives the shell only if someone killed the shell
    await poll(() => !isAlive(pid) || undefined, { timeoutMs: stopTimeoutMs });
    clearTimeout(patience);
    line.destroy();
  };
  let stopping: Promise<void> | undefined;
  return { pid, exited: () => gone, stop: () => (stopping ??= shutDown()) };
}
