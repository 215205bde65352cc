import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { note } from '../output.ts';
import type { SourceWatcher } from './source-watcher.ts';
import { after } from '../../../base/common/timer.ts';

export interface Restarting {
  /** Arguments of the command line that the child process gets. */
  args: string[];
  env: NodeJS.ProcessEnv;
  watcher: SourceWatcher;
  stopped: Promise<unknown>;
  /** Called when a child serves. */
  onServe?: () => void;
  /** How long a child may take to end before it is killed, by whether it still loads or already serves. */
  limitMs: { loading: number } & Record<Why, number>;
}

type Why = 'restart' | 'stop';

/** The variable that passes on the previous child's port, so that an open page keeps its address. */
const lastPort = 'LANEFOLD_LAST_PORT';

/** The message of a child that serves. */
export interface Served {
  port: number;
}

/**
 * Runs the command line in a child process, and restarts it when a source file changes. After a child fails because of
 * a change, this waits for the next change. The child stops when the channel to it closes, also if this process is
 * killed.
 *
 * @returns its exit code
 */
export async function runRestarting({ args, env, watcher, stopped, onServe, limitMs }: Restarting): Promise<number> {
  const settings = { ...env };
  const end = stopped.then(() => 'stopped' as const);
  let hasServed = false;
  for (;;) {
    const change = watcher.changed();
    const child = fork(process.argv[1]!, args, { env: settings });
    let serves = false;
    child.once('message', ({ port }: Served) => {
      hasServed = serves = true;
      settings[lastPort] = String(port);
      onServe?.();
    });
    const exit = once(child, 'exit').then(([code]) => ({ code: (code as number | null) ?? 1 }));
    const first = await Promise.race([exit, end, change]);
    const why = first === 'stopped' ? 'stop' : 'restart';
    await stop(child, exit, why, limitMs[serves ? why : 'loading']);
    if (first === 'stopped') return (await exit).code;
    if (typeof first === 'object') {
      if (!hasServed || first.code === 0) return first.code;
      note('waiting for a change');
      const next = await Promise.race([end, change]);
      if (next === 'stopped') return first.code;
      note(`${next} changed: restarting`);
    } else note(`${first} changed: restarting`);
  }
}

async function stop(child: ChildProcess, exit: Promise<unknown>, why: Why, limitMs: number): Promise<void> {
  // a child in an endless loop reacts to neither messages nor signals
  const patience = after(limitMs, () => child.kill('SIGKILL'));
  if (child.connected) child.send(why, () => child.connected && child.disconnect());
  await exit;
  patience.cancel();
}

/** In a child of `runRestarting`: resolves once the parent process wants it to end, or is gone. */
export async function disowned(): Promise<Why> {
  // this process is not a child
  if (!process.send) return new Promise<never>(() => {});
  return new Promise((resolve) => {
    process.once('message', (why) => resolve(why as Why));
    process.once('disconnect', () => resolve('restart'));
    if (!process.connected) resolve('restart');
  });
}

/** The port of the previous child; undefined for the first. */
export const portBefore = (): number | undefined =>
  process.env[lastPort] === undefined ? undefined : Number(process.env[lastPort]);

/** Tells the parent process where this one serves. */
export function announce(served: Served): void {
  // the parent may be gone by now
  if (process.connected) process.send!(served, undefined, undefined, () => {});
}

/** Closes the channel to the parent, which would keep this process alive. */
export function disown(): void {
  if (process.connected) process.disconnect();
}
