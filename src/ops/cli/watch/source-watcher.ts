import { existsSync, readdirSync, watch, type FSWatcher } from 'node:fs';
import path from 'node:path';
import { after, type Timer } from '../../../base/common/timer.ts';

/** Source files. Data such as JSON is excluded: a tool that writes some would restart the program it runs in. */
const source = /\.[cm]?[jt]sx?$/;
/** Editors write a file in several steps, and several files at once. */
const settleMs = 100;
/** The system limits how many folders a user may watch. */
const mostFolders = 2_000;

export interface SourceWatcher {
  /** Resolves with the path of a source file that has changed, relative to the folder. */
  changed(): Promise<string>;
  close(): void;
}

/** The project a file is in: the folder of its nearest package.json, or its own where there is none. */
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
    if (watchers.has(folder) || watchers.size >= mostFolders) return;
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
