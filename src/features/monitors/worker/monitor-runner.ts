import { advanceMonitor, type MonitorCursor, type TakenMonitor, takeMonitors } from '../store/monitors.ts';
import type { MonitorDependencies } from './dependencies.ts';
import { every, CoalescedPoll, type Timer } from '../../../base/common/timer.ts';
import { nextRuns, waitingScores, type WaitingScore } from '../store/run-scores.ts';
import { runsEnded } from '../../../database/store/run/runs-ended.ts';
import { scoreOrExplain, storeJudged } from './score-run.ts';

/** After this, another worker continues with a monitor that a dead one had taken. */
const holdMs = 30_000;

/** A monitor that this worker has, renewed until it is given back. */
class HeldMonitor {
  readonly #lost = new AbortController();
  readonly #timer: Pick<Timer, 'cancel'>;
  #renewal: Promise<void> = Promise.resolve();
  /** Aborted when the worker stops, or another one has the monitor. */
  readonly signal: AbortSignal;

  constructor(
    private readonly deps: Pick<MonitorDependencies, 'db' | 'onError' | 'sweepMs'>,
    private readonly monitor: TakenMonitor,
    stop: AbortSignal,
  ) {
    this.signal = AbortSignal.any([stop, this.#lost.signal]);
    this.#timer = every(holdMs / 3, () => {
      this.#renewal = this.advance(null).catch(deps.onError);
    });
  }

  /** Notes how far it is read. */
  async advance(cursor: MonitorCursor | null): Promise<void> {
    if (!(await advanceMonitor(this.deps.db, this.monitor, cursor, holdMs))) this.#lost.abort();
  }

  /** Lets the next worker have it, once it is due again. */
  async giveBack(): Promise<void> {
    this.#timer.cancel();
    await this.#renewal;
    const { db, sweepMs, onError } = this.deps;
    if (!this.#lost.signal.aborted) await advanceMonitor(db, this.monitor, null, sweepMs).catch(onError);
  }
}

/** Scores runs that have ended, together with the other workers. Without monitors it costs one small query per sweep. */
export class MonitorRunner {
  readonly #poll: CoalescedPoll;
  readonly #stop = new AbortController();

  constructor(deps: MonitorDependencies) {
    this.#poll = new CoalescedPoll(() => runMonitors(deps, this.#stop.signal), deps.onError);
  }

  look(): Promise<void> {
    return this.#poll.poll();
  }

  /** Stops scoring: other workers score what is left. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#poll.close();
  }
}

/** How many runs are scored at once, before the place is noted. */
const atOnce = 8;
/** How many monitors a look takes: further ones are for the next look, or for other workers. */
const mostMonitors = 4;
const batch = 200;

/** Scores the runs that have ended since the last look, for monitors that no other worker has. */
async function runMonitors(deps: MonitorDependencies, stop: AbortSignal): Promise<void> {
  const { db, queuePrefix, agents } = deps;
  const scorers = deps.scorers.map(({ name }) => name);
  for (let more = true; more && !stop.aborted;) {
    const taken = await takeMonitors(db, { queuePrefix, scorers, agents }, { holdMs, limit: mostMonitors });
    await Promise.all(taken.map((monitor) => runMonitor(deps, monitor, stop)));
    more = taken.length === mostMonitors;
  }
}

async function runMonitor(deps: MonitorDependencies, monitor: TakenMonitor, stop: AbortSignal): Promise<void> {
  const held = new HeldMonitor(deps, monitor, stop);
  try {
    await readOn(deps, monitor, held).catch(deps.onError);
    await storeJudgements(deps, monitor, held.signal);
  } catch (error) {
    deps.onError(error);
  } finally {
    await held.giveBack();
  }
}

/** Scores the next runs. After an outage, the next look continues with the run that could not be scored. */
async function readOn(deps: MonitorDependencies, monitor: TakenMonitor, held: HeldMonitor): Promise<void> {
  let cursor: MonitorCursor | undefined = {
    read_to: monitor.read_to,
    thread_id: monitor.read_thread_id,
    run_id: monitor.read_run_id,
  };
  if (Date.parse(monitor.until) < Date.parse(monitor.read_to)) return;
  while (cursor && !held.signal.aborted) {
    const { runs, next } = await nextRuns(deps.db, monitor, cursor, atOnce);
    await Promise.all(runs.map((run) => scoreOrExplain(deps, monitor, run, held.signal)));
    if (held.signal.aborted) return;
    await held.advance(next ?? { read_to: monitor.until, thread_id: '', run_id: '' });
    cursor = next;
  }
}

async function storeJudgements(deps: MonitorDependencies, monitor: TakenMonitor, signal: AbortSignal): Promise<void> {
  for (let after: WaitingScore | undefined; !signal.aborted;) {
    const waiting = await waitingScores(deps.db, monitor, after, batch);
    const judges = waiting.map(({ judge_thread_id: threadId, judge_run_id: runId }) => ({ threadId, runId }));
    const ended = new Set((await runsEnded(deps.db, judges)).map(({ runId }) => runId));
    for (const score of waiting)
      if (ended.has(score.judge_run_id)) await storeJudged(deps, monitor, score).catch(deps.onError);
    after = waiting.at(-1);
    if (waiting.length < batch) return;
  }
}
