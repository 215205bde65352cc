import { toLine, type Snapshot, type SnapshotRun, type HistoryEvent, type Recorder } from '../../history/event.ts';
import type { Observer } from '../schedule.ts';
import { toEntry } from './translate.ts';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { checkHistory } from '../../history/check-history.ts';
import { elleFile } from '../../history/elle.ts';
import type { Violation } from '../checks/runs.ts';
import { readHistory } from './record-statements.ts';

/** Threads as of one moment: their entries, and how their runs are. */
export const snapshotSql = `
  select t.id, t.rev::float8,
    (select coalesce(json_agg(e order by e.seq), '[]') from (
      select seq::float8, kind, context_ref, role, op_id, run_id, request_id, payload, refs
      from lanefold.thread_entry where thread_id = t.id) e) as entries,
    (select coalesce(json_agg(r order by r.id), '[]') from (
      select k.id, k.status, k.termination_reason as reason,
        (select coalesce(json_agg(v.kind), '[]') from lanefold.run_event v where v.thread_id = t.id and v.run_id = k.id
           and v.kind in ('request_completed', 'request_failed', 'request_cancelled')) as terminal
      from lanefold.run k where k.thread_id = t.id) r) as runs
  from lanefold.thread t where t.id = any($1)`;

export interface SnapshotRow {
  id: string;
  rev: number;
  entries: object[];
  runs: SnapshotRun[];
}

export const toSnapshot = ({ rev, entries, runs }: SnapshotRow): Snapshot => ({
  rev,
  entries: entries.map(toEntry),
  runs,
});

const page = 200;

/** Records a read of every thread. */
async function readThreads(observer: Observer, recorder: Recorder): Promise<void> {
  const threads = await observer.query<{ id: string }>(
    'select id from lanefold.thread where erased_at is null order by id',
  );
  for (let from = 0; from < threads.length; from += page) {
    const ids = threads.slice(from, from + page).map(({ id }) => id);
    const readings = new Map(ids.map((id) => [id, recorder.invoke('read', id, {})]));
    for (const row of await observer.query<SnapshotRow>(snapshotSql, [ids])) readings.get(row.id)!.ok(toSnapshot(row));
  }
}

/** Where to write a history, and in which form. */
export interface HistoryFile {
  file: string;
  format: 'jsonl' | 'elle';
}

interface Concluded {
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
