import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { merge, type HistoryEvent } from '../../history/event.ts';
import { fromLines, toLine } from '../../history/json-lines.ts';
import { Recorder } from '../../history/recorder.ts';

const prefix = 'history-';

/**
 * A recorder of this process. It writes each event to the file of the process before the operation goes on, so that a
 * killed process leaves everything that it may have done.
 */
export function recorderIn(dir: string, name: string): Recorder {
  const file = path.join(dir, `${prefix}${name}-${process.pid}.jsonl`);
  return new Recorder(`${name}-${process.pid}`, (event) => appendFileSync(file, toLine(event)));
}

/** The history of all processes that recorded in a folder. */
export const readHistory = (dir: string): HistoryEvent[] =>
  merge(
    ...readdirSync(dir)
      .filter((name) => name.startsWith(prefix))
      .map((name) => fromLines(readFileSync(path.join(dir, name), 'utf8'))),
  );
