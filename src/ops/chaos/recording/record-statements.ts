import {
  Recorder,
  merge,
  fromLines,
  toLine,
  type Recording,
  type OperationName,
  type HistoryEvent,
} from '../../history/event.ts';
import { isLanefoldError } from '../../../base/errors.ts';
import { isConnectionError, isTransient } from '../../../database/postgres/errors.ts';
import { onStatement, type SentStatement } from '../../../database/postgres/run-query.ts';
import { toEntry, translate, type Translated } from './translate.ts';
import { parseJson } from '../../../base/common/json.ts';
import type { Journal } from '../workload/journal.ts';
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** What a statement carries out, and how its answer is read. */
interface Sent {
  operations: Translated[];
  /** The result of each operation; throws if the database reported that nothing was done. */
  results(answer: any): any[]; // eslint-disable-line @typescript-eslint/no-explicit-any
}

/**
 * Records what this process asks the database as operations of a history: what clients call and what workers claim and
 * write. Returns a function that stops it.
 */
export const recordStatements = (recorder: Recorder): (() => void) =>
  onStatement((statement) => recordStatement(recorder, statement));

/** Records one statement. */
export function recordStatement(recorder: Recorder, statement: SentStatement): void {
  const sent = read(statement);
  if (sent.operations.length === 0) return;
  const open = sent.operations.map(({ f, thread_id, call }) => recorder.invoke(f, thread_id, call));
  const each = (end: (recording: Recording<OperationName>, i: number) => void) =>
    open.forEach((recording, i) => end(recording as Recording<OperationName>, i));
  statement.answer.then(
    (answer) => {
      let results: unknown[];
      try {
        results = sent.results(answer);
      } catch (error) {
        return each((recording) => recording.fail((error as Error).message));
      }
      each((recording, i) => recording.ok(sent.operations[i]!.answer(results[i] as never)));
    },
    (error: unknown) =>
      each((recording) => (didNothing(error) ? recording.fail(textOf(error)) : recording.info(textOf(error)))),
  );
}

/** The database refused, or rolled back. After a broken connection it is unknown. */
const didNothing = (error: unknown): boolean =>
  !isConnectionError(error) && (isLanefoldError(error) || isTransient(error));

const textOf = (error: unknown): string => (isLanefoldError(error) ? error.code : String(error));

function read({ name, values }: SentStatement): Sent {
  if (name === 'attempts') {
    const {
      thread_id,
      function: called,
      args,
    } = parseJson(values[0] as string) as { thread_id: string; function: string; args: unknown[] };
    return {
      operations: translate(called, thread_id, args),
      results: ({ result, locked, error }) => {
        if (locked || error) throw new Error(error?.code ?? 'locked');
        return [result, result];
      },
    };
  }
  if (name === 'renew_leases' || name === 'renew_leases_and_report') return readRenewals(values);
  if (name === 'use_limits') return readLimits(parseJson(values[0] as string) as LimitCall);
  if (name === 'entries') return readWholeLog(values);
  const [threadId, ...args] = values;
  // functions that return a set answer with rows, all others with `result`
  const results = (rows: Record<string, unknown>[]) => {
    const [row] = rows;
    const result = row && 'result' in row ? row['result'] : (row?.['thread'] ?? row ?? null);
    return [result, result];
  };
  return { operations: translate(name, threadId as string, args.map(parsed)), results };
}

const parsed = (arg: unknown): unknown => (typeof arg === 'string' && /^[[{]/.test(arg) ? parseJson(arg) : arg);

function readRenewals([leases, leaseMs]: readonly unknown[]): Sent {
  const held = parseJson(leases as string) as { thread_id: string; run_id: string; lease: number }[];
  return {
    operations: held.map(({ thread_id, run_id, lease }) => ({
      f: 'renew',
      thread_id,
      call: { run_id, lease, lease_ms: leaseMs as number },
      answer: ({ lost, renewed }) => ({ lost, renewed }),
    })),
    // a lease that was simply renewed has no row
    results: (rows: { thread_id: string; run_id: string }[]) =>
      held.map(
        ({ thread_id, run_id }) =>
          rows.find((row) => row.thread_id === thread_id && row.run_id === run_id) ?? { lost: false, renewed: true },
      ),
  };
}

interface LimitCall {
  thread_id?: string;
  run_id?: string;
  take?: [string, number][];
  done?: [string, number][];
  base?: object;
  pause?: true;
  job?: object;
  end?: object;
}

/** The run for which a statement asks the limits for what a model call takes. */
function askingRun({ name, values }: SentStatement): string | undefined {
  if (name !== 'use_limits') return undefined;
  const { run_id, take } = parseJson(values[0] as string) as LimitCall;
  return take === undefined ? undefined : run_id;
}

/** Calls of runs that wait in line are not recorded, so what campaigns reserve is checked in the database only. */
function readLimits({ thread_id, run_id, take, done, base, pause, job, end }: LimitCall): Sent {
  if (thread_id === undefined || run_id === undefined || job !== undefined)
    return { operations: [], results: () => [] };
  const call = {
    run_id,
    take: take ?? [],
    done: (done ?? []).map(([place, amount]): [string, number] => [place, amount]),
  };
  return {
    operations: [
      {
        f: 'reserve',
        thread_id,
        call: { ...call, settles: (end ?? base ?? pause) !== undefined },
        answer: ({ ok }) => ({ granted: ok === true }),
      },
    ],
    results({ result }) {
      // nothing was taken or given back
      if (result.stale !== undefined) throw new Error('The limits have changed.');
      return [result];
    },
  };
}

/** A page from the beginning that was not filtered and did not fill up is the whole log of its thread. */
function readWholeLog([threadId, after, kind, contextRef, limit, maxBytes]: readonly unknown[]): Sent {
  if (after !== -1 || kind !== null || contextRef !== null) return { operations: [], results: () => [] };
  return {
    operations: [
      {
        f: 'read',
        thread_id: threadId as string,
        call: {},
        answer: (rows) => ({ rev: rows['length'], entries: (rows as Record<string, unknown>[]).map(toEntry) }),
      },
    ],
    results: (rows: { bytes: string }[]) => {
      if (rows.length === limit || Number(rows.at(-1)?.bytes ?? 0) >= Number(maxBytes))
        throw new Error('The page is full.');
      return [rows];
    },
  };
}

/** Records when this process asks the limits, so that a call is known to have been granted after that. */
export const recordAsks = (journal: Journal): (() => void) =>
  onStatement((statement) => {
    const runId = askingRun(statement);
    if (runId === undefined) return;
    const answered = journal.recordAsk(runId);
    statement.answer.then(
      (answer) => answered((answer as { result: { ok?: true } }).result.ok !== true),
      // it may have been granted
      () => {},
    );
  });

const prefix = 'history-';

/**
 * A recorder of this process. It writes each event to the file of the process before the operation continues, so that a
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
