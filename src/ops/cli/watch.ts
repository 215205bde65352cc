import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { note } from './output.ts';
import { after, type Timer } from '../../base/common/timer.ts';
import { existsSync, readdirSync, watch, type FSWatcher } from 'node:fs';
import path from 'node:path';

interface Restarting {
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
interface Served {
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

/** Source files. Data such as JSON is excluded: a tool that writes some would restart the program it runs in. */
const source = /\.[cm]?[jt]sx?$/;
/** Editors write a file in several steps, and several files at once. */
const settleMs = 100;
/** The system limits how many folders a user may watch. */
const maxFolders = 2_000;

export interface SourceWatcher {
  /** Resolves with the path of a source file that has changed, relative to the folder. */
  changed(): Promise<string>;
  close(): void;
}

/** The project a file is in: the folder of its nearest package.json, or its own folder without one. */
export function projectOf(file: string): string {
  const own = path.dirname(path.resolve(file));
  for (let folder = own; ; folder = path.dirname(folder)) {
    if (existsSync(path.join(folder, 'package.json'))) return folder;
    if (folder === path.dirname(folder)) return own;
  }
}

/**
 * Watches the source files under a folder, except in hidden folders and node_modules, and the file `alone`, wherever it
 * is.
 */
export function watchSources(root: string, alone: string): SourceWatcher {
  const watchers = new Map<string, FSWatcher>();
  let timer: Timer | undefined;
  let onChange: (file: string) => void = () => {};

  const unwatch = (key: string) => {
    watchers.get(key)?.close();
    watchers.delete(key);
  };
  const seen = (file: string) => {
    timer?.cancel();
    timer = after(settleMs, () => onChange(path.relative(root, file)));
  };
  const open = (key: string, folder: string, onName: (name: string) => void) => {
    const watcher = watch(folder, (_, name) => name !== null && onName(name));
    watchers.set(key, watcher);
    watcher.on('error', () => unwatch(key));
  };
  const add = (folder: string) => {
    if (watchers.has(folder) || watchers.size >= maxFolders) return;
    try {
      open(folder, folder, (name) => {
        const file = path.join(folder, name);
        if (source.test(name)) seen(file);
        else if (isWatched(name)) add(file);
      });
      for (const entry of readdirSync(folder, { withFileTypes: true }))
        if (entry.isDirectory() && isWatched(entry.name)) add(path.join(folder, entry.name));
    } catch {
      // not a folder, already deleted, or more watches than the system allows
      unwatch(folder);
    }
  };
  add(root);
  try {
    // watches the folder, because the file may not exist yet, and editors replace it
    open(alone, path.dirname(alone), (name) => {
      if (name === path.basename(alone)) seen(alone);
    });
  } catch {
    // more watches than the system allows
  }
  return {
    changed: () => new Promise((resolve) => (onChange = resolve)),
    close() {
      timer?.cancel();
      for (const folder of [...watchers.keys()]) unwatch(folder);
    },
  };
}

const isWatched = (name: string): boolean => !name.startsWith('.') && name !== 'node_modules';
