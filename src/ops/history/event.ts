import type { FoldEntry } from '../../agent/context/fold.ts';
import { parseJson } from '../../base/common/json.ts';

/**
 * A line of a history, in the form of Jepsen's: an operation has an `invoke` and then one of `ok`, `fail` and `info`.
 * Between the two, its process does nothing else; after `info`, never again.
 */
export interface HistoryEvent {
  index: number;
  /** In nanoseconds, by a clock that all processes of the machine share. */
  time: number;
  process: string;
  type: 'invoke' | 'ok' | 'fail' | 'info';
  f: OperationName;
  thread_id: string;
  /** What is asked, with `invoke`; the answer, with `ok`. */
  value?: unknown;
  /** Why it failed, or how its answer was lost. */
  error?: string;
}

/** Puts the events of several recorders into one order, numbered from 0. */
export const merge = (...recorded: (readonly HistoryEvent[])[]): HistoryEvent[] =>
  recorded
    .flat()
    .toSorted((a, b) => a.time - b.time)
    .map((event, index) => ({ ...event, index }));

/** Pairs the events of each operation. One whose process died before its answer counts as `info`. */
export function operationsOf(events: readonly HistoryEvent[]): Operation[] {
  const operations: Operation[] = [];
  const open = new Map<string, Operation>();
  for (const { index, time, process, type, f, thread_id, value, error } of events) {
    if (type === 'invoke') {
      const operation = {
        f,
        thread_id,
        process,
        call: value,
        outcome: 'info',
        answer: undefined,
        error: undefined,
        invoked: index,
        ended: Infinity,
        invokedAt: time,
        endedAt: Infinity,
      } as Operation;
      operations.push(operation);
      open.set(process, operation);
      continue;
    }
    const operation = open.get(process);
    if (!operation || type === 'info') continue;
    open.delete(process);
    Object.assign(operation, { outcome: type, answer: value, error, ended: index, endedAt: time });
  }
  return operations;
}

/** What an operation asks for and what it is told, by its name. Everything is snake_case, because it leaves the process. */
export interface Calls {
  /** Entries of a caller. Each value names one entry and is never used for another one. */
  append: Call<
    { values: string[]; key?: string; expected_rev?: number },
    { first_seq: number; rev: number; duplicate: boolean }
  >;
  /** The whole log of a thread as of one moment. */
  read: Call<Record<string, never>, Snapshot>;
  /** `interrupts`: it may end the active run of the thread. */
  enqueue: Call<{ request_id: string; interrupts: boolean }, { run_id: string; duplicate: boolean }>;
  claim: Call<
    { run_id: string; worker_id: string; lease_ms: number },
    { claimed: false; status: string | null } | ({ claimed: true } & Claimed)
  >;
  commit: Call<
    {
      run_id: string;
      lease: number;
      step: number;
      lease_ms: number;
      entries: number;
      /** How many of the entries are messages of the model. */
      answers: number;
      ends: boolean;
      gives_up: boolean;
    },
    { status: string; seq?: number; duplicate: boolean; finished: boolean }
  >;
  /** Moves a tool call: it starts, or its outcome is stored. */
  record: Call<
    {
      run_id: string;
      lease: number;
      lease_ms: number;
      round: number;
      index: number;
      status: string;
      outcome: string | null;
    },
    Record<string, never>
  >;
  renew: Call<{ run_id: string; lease: number; lease_ms: number }, { lost: boolean; renewed: boolean }>;
  /** Gives up a lease without ending the run: it waits, or its worker stops. */
  release: Call<{ run_id: string; lease: number }, { released: boolean }>;
  /** Ends a run outside its strategy; `lease` is null for a caller without a lease. */
  finish: Call<{ run_id: string; lease: number | null }, { finished: boolean; status: string | null }>;
  steer: Call<{ input_id: string }, { run_id: string; status: string }>;
  cancel: Call<{ run_id: string }, { accepted: boolean; finished: boolean; status: string }>;
  decide: Call<{ run_id: string; round: number; index: number; decision: string }, { decision: string }>;
  /** A context operation. */
  operate: Call<{ op_id: string }, { op_status: string; seq: number | null }>;
  /** Creates the thread of the operation from another one, as it was after the entry `fork_seq`. */
  fork: Call<{ parent_thread_id: string; fork_seq: number }, { rev: number }>;
  /** Takes from limits of tokens or money and gives back; `settles`: everything that the run had taken before returns. */
  reserve: Call<{ run_id: string; take: Amount[]; done: Amount[]; settles: boolean }, { granted: boolean }>;
  /** What is reserved of each limit, by place. */
  usage: Call<Record<string, never>, { reserved: Record<string, number> }>;
  /** A tool is executed. It is recorded by the tool, not by what calls it. */
  execute: Call<{ run_id: string; round: number; index: number; name: string; replay: string }, Record<string, never>>;
}

interface Call<Asked, Answer> {
  call: Asked;
  answer: Answer;
}

type Amount = [place: string, amount: number];

interface Claimed {
  lease: number;
  context_ref: string;
  /** `seq` of the message the run began with; null for a run without one. */
  user_seq: number | null;
  /** Of the context the worker was given. */
  context_hash: string;
  /** The ledger of the open round; null if the run waits for no tools. */
  round: number | null;
  calls: { index: number; status: string; outcome: string | null }[];
}

export interface Snapshot {
  rev: number;
  entries: SnapshotEntry[];
  /** Absent if only the log was read. */
  runs?: SnapshotRun[];
}

export interface SnapshotEntry extends FoldEntry {
  op_id: string | null;
  /** The value under which an `append` wrote it; null for an entry of another origin. */
  value: string | null;
}

export interface SnapshotRun {
  id: string;
  status: string;
  reason: string | null;
  /** Its terminal events, by kind. */
  terminal: string[];
}

export type OperationName = keyof Calls;

/**
 * One operation of a client or a worker. `fail` did nothing; `info` lost its answer, so it may have happened, at any
 * time after it was invoked.
 */
export interface OperationOf<Name extends OperationName> {
  f: Name;
  thread_id: string;
  process: string;
  call: Calls[Name]['call'];
  outcome: 'ok' | 'fail' | 'info';
  /** Present if the outcome is `ok`. */
  answer: Calls[Name]['answer'] | undefined;
  error: string | undefined;
  /** Index of its first event in the history. */
  invoked: number;
  /** Index of its second event; `Infinity` for an operation that may still happen. */
  ended: number;
  /** When it was invoked and answered, in nanoseconds by one clock. */
  invokedAt: number;
  endedAt: number;
}

export type Operation = { [Name in OperationName]: OperationOf<Name> }[OperationName];

/** An operation with its answer. */
export type Answered<Name extends OperationName> = OperationOf<Name> & { answer: Calls[Name]['answer'] };

export const toLine = (event: HistoryEvent): string => `${JSON.stringify(event)}\n`;

/** The events of a file. The last line of a killed process may be incomplete and is left out. */
export const fromLines = (text: string): HistoryEvent[] =>
  text.split('\n').flatMap((line) => (line.endsWith('}') ? parsed(line) : []));

function parsed(line: string): HistoryEvent[] {
  try {
    return [parseJson(line) as HistoryEvent];
  } catch {
    return [];
  }
}

/** How an operation ended: exactly one of these is called, once. */
export interface Recording<Name extends OperationName> {
  ok(answer: Calls[Name]['answer']): void;
  /** It did nothing. */
  fail(error: string): void;
  /** Its answer was lost: it may have happened, or may still. */
  info(error: string): void;
}

/**
 * Records operations as they happen. An operation gets a process that has nothing else to do; one whose answer was lost
 * keeps its process for ever, because the operation may still happen.
 */
export class Recorder {
  #index = 0;
  #processes = 0;
  #stopped = false;
  readonly #idle: string[] = [];

  /**
   * @param name prefix of the processes, different for each recorder of a history
   * @param write called with each event before the operation continues
   * @param clock nanoseconds; default: the monotonic clock, which all processes of a machine share
   */
  constructor(
    private readonly name: string,
    private readonly write: (event: HistoryEvent) => void,
    private readonly clock: () => number = () => Number(process.hrtime.bigint()),
  ) {}

  invoke<Name extends OperationName>(f: Name, thread_id: string, call: Calls[Name]['call']): Recording<Name> {
    const process = this.#idle.pop() ?? `${this.name}.${this.#processes++}`;
    const put = (event: Pick<HistoryEvent, 'type' | 'value' | 'error'>) => {
      if (!this.#stopped) this.write({ index: this.#index++, time: this.clock(), process, f, thread_id, ...event });
    };
    let ended = false;
    const end = (event: Pick<HistoryEvent, 'type' | 'value' | 'error'>) => {
      if (ended) throw new Error(`The operation ${f} of process ${process} has ended already.`);
      ended = true;
      put(event);
      if (event.type !== 'info') this.#idle.push(process);
    };
    put({ type: 'invoke', value: call });
    return {
      ok: (answer) => end({ type: 'ok', value: answer }),
      fail: (error) => end({ type: 'fail', error }),
      info: (error) => end({ type: 'info', error }),
    };
  }

  /** Records nothing more; operations without an answer stay open. */
  stop(): void {
    this.#stopped = true;
  }
}
