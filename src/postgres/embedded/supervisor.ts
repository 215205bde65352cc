import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Binaries } from './binaries.ts';
import { poll } from './poll.ts';
import { isAlive } from './process-identity.ts';
import { postgresEnv } from './run.ts';
import { spawnAs, type SystemUser } from './system-user.ts';

// Descriptor 3 is a socket to this process. However this process ends, the kernel closes it, and PostgreSQL shuts down.
// The watcher starts before the pid is written, because writing to a dead process would end the shell.
const script = `
"$@" 3<&- & P=$!
{ read -r end <&3; kill -INT $P; } & W=$!
echo $P >&3
wait $P; S=$?
kill $W
exit $S`;

const stopTimeoutMs = 60_000;

/** A postmaster that ends with this process. */
export interface Supervised {
  pid: number;
  exited(): boolean;
  stop(): Promise<void>;
}

/**
 * Starts postgres under a shell in its own session. Signals to our process group (Ctrl-C) do not reach it, so the
 * application can use the database while it drains.
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
  // The other end may close first.
  line.on('error', () => undefined);
  let gone = false;
  const exit = once(child, 'exit').then(() => void (gone = true));
  const endedEarly = exit.then(() => Promise.reject(new Error('/bin/sh exited before it started postgres')));
  const [pidLine] = (await Promise.race([once(line, 'data'), endedEarly])) as [Buffer];
  const pid = Number(pidLine.toString());
  // The database must not keep an otherwise finished program alive.
  child.unref();
  line.unref();

  const shutDown = async () => {
    child.ref();
    line.end();
    const patience = setTimeout(() => isAlive(pid) && process.kill(pid, 'SIGQUIT'), stopTimeoutMs);
    if (!gone) await exit;
    // The postmaster outlives the shell only if something killed the shell.
    await poll(() => !isAlive(pid) || undefined, { timeoutMs: stopTimeoutMs });
    clearTimeout(patience);
    line.destroy();
  };
  let stopping: Promise<void> | undefined;
  return { pid, exited: () => gone, stop: () => (stopping ??= shutDown()) };
}
