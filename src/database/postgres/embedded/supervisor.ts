import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { Binaries } from './binaries.ts';
import { openLifeline, type Hold } from './lifeline.ts';
import { isAlive } from './process-identity.ts';
import { postgresEnv } from './run.ts';
import { spawnAs, type SystemUser } from './system-user.ts';
import { delay } from '../../../base/common/timer.ts';

// Descriptor 3 is the lifeline: reading it ends when the last process that holds it ends. A process that opens it at
// that very moment writes a line and then looks for the file under its name: hence the rename and the second look.
// Postgres ignores signals in its first milliseconds, so the signal is repeated. The watcher starts before the pid is
// written, because writing to a dead process would end the shell.
const script = `
L=$1; shift
"$@" 3<&- 4>&- & P=$!
{
  while :; do
    while read -r line; do :; done
    mv "$L" "$L.closing"
    read -r line || break
    mv "$L.closing" "$L"
  done
  rm -f "$L.closing" "$L.presence"
  while kill -INT $P; do sleep 1; done
} <&3 4>&- & W=$!
echo $P >&4; exec 4>&-
wait $P; S=$?
kill $W
rm -f "$L" "$L.closing" "$L.presence"
exit $S`;

const stopTimeoutMs = 60_000;

/** A postmaster that ends when the last process using it ends. */
export interface Supervised {
  pid: number;
  exited(): boolean;
  /** See `leave`. */
  stop(): Promise<boolean>;
}

/**
 * Leaves a shared PostgreSQL. If other processes use it, resolves with false at once; otherwise resolves with true when
 * the postmaster has exited.
 */
export async function leave(hold: Hold, pid: number): Promise<boolean> {
  if (hold.release()) return false;
  const settled = await poll(() => !isAlive(pid) || hold.isHeld() || undefined, { timeoutMs: stopTimeoutMs });
  if (settled) return !isAlive(pid);
  process.kill(pid, 'SIGQUIT');
  return Boolean(await poll(() => !isAlive(pid) || undefined, { timeoutMs: stopTimeoutMs }));
}

/**
 * Starts postgres under a shell in its own session. Signals to our process group (Ctrl-C) do not reach it, so the
 * application can use the database while it drains.
 */
export async function supervise(
  binaries: Binaries,
  args: string[],
  { logFd, lifeline, user }: { logFd: number; lifeline: string; user: SystemUser | undefined },
): Promise<Supervised> {
  const { hold, supervisorEnd } = openLifeline(lifeline);
  const child = spawn('/bin/sh', ['-c', script, 'lanefold-postgres', lifeline, binaries.postgres, ...args], {
    ...spawnAs(user),
    cwd: '/',
    env: postgresEnv(),
    detached: true,
    stdio: ['ignore', logFd, logFd, supervisorEnd, 'pipe'],
  });
  closeSync(supervisorEnd);
  const line = child.stdio[4] as Socket;
  // The other end may close first.
  line.on('error', () => undefined);
  let gone = false;
  const exit = once(child, 'exit').then(() => void (gone = true));
  const endedEarly = exit.then(() => Promise.reject(new Error('/bin/sh exited before it started postgres')));
  try {
    const [pidLine] = (await Promise.race([once(line, 'data'), endedEarly])) as [Buffer];
    const pid = Number(pidLine.toString());
    // The database must not keep an otherwise finished program alive.
    child.unref();
    line.unref();
    const shutDown = async () => {
      const ended = await leave(hold, pid);
      // the shell may still be removing its pipes
      if (ended) await poll(() => gone || undefined, { timeoutMs: stopTimeoutMs });
      return ended;
    };
    let stopping: Promise<boolean> | undefined;
    return { pid, exited: () => gone, stop: () => (stopping ??= shutDown()) };
  } catch (error) {
    hold.release();
    throw error;
  }
}

/** Calls `probe` until it returns a value; returns `undefined` after `timeoutMs`. */
export async function poll<T>(
  probe: () => T | undefined | Promise<T | undefined>,
  { timeoutMs, everyMs = 5 }: { timeoutMs: number; everyMs?: number },
): Promise<T | undefined> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await probe();
    if (value !== undefined || performance.now() >= deadline) return value;
    await delay(everyMs);
  }
}
