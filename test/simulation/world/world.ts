import { Recorder, type HistoryEvent } from '../../../src/ops/history/event.ts';
import { toSnapshot, type SnapshotRow } from '../../../src/ops/chaos/recording/conclude.ts';
import { isLanefoldError } from '../../../src/base/errors.ts';
import { isTransient } from '../../../src/database/postgres/errors.ts';
import type { Backend, RunJob } from '../../../src/runs/queue/queue.ts';
import type { Runtime } from '../../history/mutants/runtime.ts';
import type { Body } from '../model/state.ts';
import type { Statement, Store } from '../store.ts';
import type { Acting } from './acting.ts';
import type { Chances } from './chances.ts';
import { Clock } from './clock.ts';
import { Invariants } from './invariants.ts';
import { jobName, Jobs } from './jobs.ts';
import type { Disturbed } from './disturb.ts';
import { Losses } from './losses.ts';
import type { Actor } from './network.ts';
import { Watch } from './watch.ts';

/** A contradiction, and at which step it was found. */
export interface Found {
  check: string;
  what: string;
  step: number;
}

/** A call that waits for a decision, as a page shows it. */
export interface Awaiting {
  threadId: string;
  runId: string;
  round: number;
  index: number;
}

/** Everything that the processes of a simulation share. */
export class World {
  readonly clock = new Clock();
  readonly jobs: Jobs;
  /** How often each webhook was sent, by its id, and how often its receiver took it. */
  readonly received = new Map<string, { asked: number; accepted: number }>();
  readonly events: HistoryEvent[] = [];
  readonly found: Found[] = [];
  readonly approvals: Awaiting[] = [];
  /** Of every thread that was created. */
  readonly threads = new Set<string>();
  /** Events that have happened. */
  steps = 0;
  /** The step at which each event of the history was recorded. */
  readonly stepOf: number[] = [];
  /** Called after each statement that was executed. */
  afterEach?: () => Promise<void>;
  /** The processes with workers, by who acts in them. */
  readonly workers = new Map<Acting, Disturbed>();
  /** Until then the database answers nothing. */
  #downUntil = 0;
  readonly losses = new Losses();
  readonly #watch = new Watch(this.losses, (check, what) => this.report(check, what));
  readonly #invariants: Invariants | undefined;

  constructor(
    readonly store: Store,
    readonly chances: Chances,
    backend: Backend,
    /** What a worker takes from its claim. */
    readonly take: Runtime['take'] = (claim) => claim,
  ) {
    this.jobs = new Jobs(backend, this.clock, chances);
    this.#invariants = store.inside && new Invariants(store.inside, (check, what) => this.report(check, what));
  }

  /** Lets so many events happen, not counting timers. */
  async happen(events: number): Promise<void> {
    for (let n = 0; n < events; n++) {
      while (!(await this.clock.step()));
      this.steps++;
    }
  }

  report(check: string, what: string): void {
    this.found.push({ check, what, step: this.steps });
  }

  get isDown(): boolean {
    return this.clock.now < this.#downUntil;
  }

  /** The database answers nothing for so long. A new one that takes over has not been started then. */
  takeDown(ms: number, restarts: boolean): void {
    this.#downUntil = Math.max(this.#downUntil, this.clock.now + ms);
    if (!restarts) return;
    this.clock.in(ms, undefined, async () => {
      this.losses.restarted(this.clock.now);
      await this.store.restarted(this.clock.now);
    });
  }

  recorder(name: string): Recorder {
    const write = (event: HistoryEvent) => {
      this.stepOf.push(this.steps);
      this.events.push({ ...event, index: this.events.length });
    };
    return new Recorder(name, write, () => this.clock.now * 1e6);
  }

  /** Executes a statement, now. */
  async execute(by: Actor, statement: Statement): Promise<Body[]> {
    if (statement.name === 'find_jobs') {
      const names = JSON.parse(statement.values[0] as string) as { id: string; queue: string }[];
      return names.map(({ id, queue }) => ({ place: this.jobs.placeOf(jobName(id, queue)) }));
    }
    const { now } = this.clock;
    try {
      const rows = await this.store.execute(now, statement);
      // nothing is left of it that a history could be compared with
      if (statement.name === 'erase_conversation') this.threads.delete(statement.values[0] as string);
      if (statement.report) await this.execute(by, statement.report);
      this.losses.see(now, statement);
      this.#watch.see(now, statement, rows);
      this.#compare();
      if (this.store.difference === undefined) this.#invariants?.check(statement);
      if (statement.name === 'suspend_run') this.#suspended(statement.values);
      if (statement.name === 'attempts') this.#accepted(statement, rows);
      await this.afterEach?.();
      return rows;
    } catch (error) {
      this.#unexpected(by, statement, error);
      this.#compare();
      throw error;
    }
  }

  /** Two stores that answer differently contradict each other. */
  #compare(): void {
    const { difference } = this.store;
    if (difference !== undefined && !this.found.some(({ check }) => check === 'difference'))
      this.report('difference', difference);
  }

  /** What follows from accepted runs and threads within the same transaction. */
  #accepted({ values }: Statement, rows: readonly Body[]): void {
    const calls = JSON.parse(values[0] as string) as Body[];
    for (const [i, { thread_id, function: called, args }] of calls.entries()) {
      const { result, error } = rows[i]!;
      if (error && !error.code.startsWith('LF'))
        this.report('unexpected-errors', `${called}: ${error.code} ${error.message}`);
      if (called !== 'enqueue_run' || !result) continue;
      this.threads.add(thread_id);
      // with the queue in PostgreSQL, the job is part of the transaction
      if (this.jobs.backend === 'postgres' && result['status'] === 'queued' && !result['duplicate'])
        this.jobs.add(toNewJob(thread_id, args[0], result), 'back');
    }
  }

  /** A page would show the calls that wait now. */
  #suspended([threadId, runId, , , suspension]: readonly unknown[]): void {
    const { round, approvals } = suspension as { round: number; approvals: number[] };
    for (const index of approvals)
      this.approvals.push({ threadId: threadId as string, runId: runId as string, round, index });
  }

  #unexpected(by: Actor, { name }: Statement, error: unknown): void {
    const expected = isTransient(error) || (isLanefoldError(error) && error.code !== 'database_error');
    if (!expected) this.report('unexpected-errors', `${by.name} was told by ${name}: ${String(error)}`);
  }

  /** Looks at the trace of a thread: each run has at most one end, and nothing follows it. */
  async readTrace(threadId: string): Promise<void> {
    const ended = new Set<string>();
    for (const [seq, event] of (await this.store.trace(threadId)).entries()) {
      const [number, run, kind] = event.split(' ') as [string, string, string];
      if (Number(number) !== seq) this.report('gapless-trace', `event ${seq} of ${threadId} has the number ${number}`);
      if (ended.has(run) && kind !== 'checkpoint') this.report('one-end', `${kind} of ${run} follows its end`);
      if (/^request_(completed|failed|cancelled)$/.test(kind)) ended.add(run);
    }
    this.#compare();
  }

  /** Records what a thread is like; `get` is how the snapshot travels. */
  async read(
    recorder: Recorder,
    threadId: string,
    get = async (take: () => Promise<SnapshotRow>): Promise<SnapshotRow> => take(),
  ): Promise<void> {
    const recording = recorder.invoke('read', threadId, {});
    const snapshot = toSnapshot(await get(async () => this.store.snapshot(threadId)));
    this.#compare();
    recording.ok(snapshot);
  }
}

/** The job of an accepted run. */
export const toNewJob = (
  threadId: string,
  { agent, options, delay_ms }: Body,
  result: Body,
): RunJob & { delay_ms?: number } => ({
  thread_id: threadId,
  run_id: result['run_id'],
  enqueue_no: result['enqueue_no'],
  agent,
  ...(options?.priority === undefined ? {} : { priority: options.priority }),
  ...(delay_ms === undefined ? {} : { delay_ms }),
});
