import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { checkHistory } from '../../history/check-history.ts';
import { elleFile } from '../../history/elle.ts';
import type { HistoryEvent } from '../../history/event.ts';
import { toLine } from '../../history/json-lines.ts';
import type { Recorder } from '../../history/recorder.ts';
import type { Violation } from '../checks/check.ts';
import type { Observer } from '../observer.ts';
import { readHistory } from './history-files.ts';
import { readThreads } from './snapshot.ts';

/** Where to write a history, and in which form. */
export interface HistoryFile {
  file: string;
  format: 'jsonl' | 'elle';
}

export interface Concluded {
  operations: number;
  violations: Violation[];
  write(to: HistoryFile): Promise<void>;
}

/** Ends a history with a read of every thread, and checks it. `dir` has what all processes recorded. */
export async function concludeHistory(observer: Observer, recorder: Recorder, dir: string): Promise<Concluded> {
  await readThreads(observer, recorder);
  const events = readHistory(dir);
  return {
    operations: events.filter(({ type }) => type === 'invoke').length,
    violations: checkHistory(events).map(({ check, ...row }) => ({
      invariant: 'history',
      name: check,
      row: { ...row },
    })),
    write: ({ file, format }) => writeFile(path.resolve(file), textOf(events, format)),
  };
}

const textOf = (events: readonly HistoryEvent[], format: HistoryFile['format']) =>
  format === 'elle' ? elleFile(events) : events.map(toLine);
