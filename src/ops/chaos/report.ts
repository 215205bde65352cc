import type { Backend } from '../../runs/queue/queue.ts';
import { everyRunEnded, type Violation } from './checks/runs.ts';
import { acknowledgedIsStored, finishedCallNotRestarted, neverReplayed } from './history.ts';
import type { Observer, Scenario, FaultKind } from './schedule.ts';
import type { CheckResult } from './run-checks.ts';

/** Percentiles of a set of durations, in milliseconds. */
interface Spread {
  p50: number;
  p95: number;
  max: number;
}

export const spreadOf = (values: readonly number[]): Spread => {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0);
  return { p50: at(0.5), p95: at(0.95), max: at(1) };
};

/** The result of one campaign, as `lanefold chaos --json` prints it. */
export interface CampaignReport {
  queue: Backend;
  seed: number;
  workers: number;
  concurrency: number;
  /** Intervals of the workers, in milliseconds. */
  lease_ms: number;
  sweep_ms: number;
  /** Injected faults that hit at least one active run. */
  scenarios: number;
  /** False if the campaign ended before it reached the requested number of scenarios. */
  reached: boolean;
  /** Workers killed by the campaign. */
  worker_deaths: number;
  runs: { total: number; completed: number; failed: number; cancelled: number };
  exercised: Exercised;
  /** Failed runs by error type. */
  failures: Record<string, number>;
  entries: number;
  /** Operations in the history of clients and workers. */
  operations: number;
  model_calls: number;
  lost_model_calls: number;
  tool_calls: number;
  /** Acknowledged runs, inputs and operations that are not stored. */
  lost: number;
  /** Entries or terminal events that were duplicated or changed. */
  duplicated: number;
  /** Calls started by the holder of the run after their outcome was stored. */
  finished_tools_repeated: number;
  /** The same, but started by workers that lost the run while frozen. */
  late_starts: number;
  orphan_calls: number;
  hung: number;
  /** Time from each fault until the runs it hit made progress. */
  recovery_ms: Spread;
  faults: Partial<Record<FaultKind, { scenarios: number; runs_hit: number; recovery_ms: Spread }>>;
  violations: Violation[];
  elapsed_ms: number;
  /** The folder with the database, which is kept if there is a violation. */
  dir?: string;
}

interface Findings {
  campaign: Pick<CampaignReport, 'queue' | 'seed' | 'workers' | 'concurrency' | 'lease_ms' | 'sweep_ms'>;
  reached: boolean;
  scenarios: Scenario[];
  times: Map<number, number[]>;
  kills: number;
  unexpectedExits: string[];
  lateStarts: number;
  exercised: Exercised;
  checked: CheckResult;
  operations: number;
  elapsedMs: number;
  dir: string;
}

/** Counts the contents of the database and the violations found in it. */
export async function summarise(observer: Observer, found: Findings): Promise<CampaignReport> {
  const { scenarios, times, checked } = found;
  const violations = [
    ...checked.violations,
    ...found.unexpectedExits.map((how) => ({
      invariant: 'I5',
      name: 'a worker exits only when it is killed',
      row: { how },
    })),
  ];
  const count = (...names: string[]) =>
    violations.filter(({ invariant, name }) => names.some((text) => invariant === text || name === text)).length;
  const [runs] = await observer.query<CampaignReport['runs']>(
    `select count(*)::int as total, count(*) filter (where status = 'completed')::int as completed,
       count(*) filter (where status = 'failed')::int as failed, count(*) filter (where status = 'cancelled')::int as cancelled
     from lanefold.run`,
  );
  const failures = await observer.query<{ type: string; count: number }>(
    `select coalesce(error ->> 'type', termination_reason) as type, count(*)::int from lanefold.run where status = 'failed' group by 1`,
  );
  const [totals] = await observer.query<{ entries: number; lost_model_calls: number; tool_calls: number }>(
    `select (select count(*)::int from lanefold._entry) as entries, (select count(*)::int from lanefold._tool_call) as tool_calls,
       (select count(*)::int from lanefold.run_event where kind = 'llm_lost') as lost_model_calls`,
  );
  const faults: CampaignReport['faults'] = {};
  for (const kind of new Set(scenarios.map((scenario) => scenario.kind))) {
    const own = scenarios.filter((scenario) => scenario.kind === kind);
    faults[kind] = {
      scenarios: own.length,
      runs_hit: own.reduce((sum, { hit }) => sum + hit.length, 0),
      recovery_ms: spreadOf(own.flatMap(({ no }) => times.get(no) ?? [])),
    };
  }
  return {
    ...found.campaign,
    scenarios: scenarios.length,
    reached: found.reached,
    worker_deaths: found.kills,
    runs: runs!,
    exercised: found.exercised,
    failures: Object.fromEntries(failures.map(({ type, count: n }) => [type, n])),
    entries: totals!.entries,
    operations: found.operations,
    model_calls: checked.replayedCalls,
    lost_model_calls: totals!.lost_model_calls,
    tool_calls: totals!.tool_calls,
    lost: count(acknowledgedIsStored.name),
    duplicated: count('I2', 'I3'),
    finished_tools_repeated: count(finishedCallNotRestarted.name, neverReplayed.name),
    late_starts: found.lateStarts,
    orphan_calls: count('I4'),
    hung: count(everyRunEnded.name),
    recovery_ms: spreadOf([...times.values()].flat()),
    faults,
    violations,
    elapsed_ms: Math.round(found.elapsedMs),
    ...(violations.length > 0 && { dir: found.dir }),
  };
}

/** How often a campaign used what most runs do without. */
export interface Exercised {
  /** Completed runs by strategy, other than `react`; where no check failed, each has the expected result. */
  strategies: Record<string, number>;
  /** Runs that a tool call of another run started. */
  sub_agents: number;
  handoffs: number;
  decisions: number;
  forks: number;
  /** Times that a run which had started waited for a limit. */
  delays: number;
  /** Calls of runs with strict limits. */
  limited_calls: number;
  odd_answers: number;
  /** Slots of schedules that started a run. */
  slots: number;
  /** Waits of calls for an event or a time that ended. */
  waits: number;
  /** Events that a webhook got, and requests that it did not answer as it should. */
  webhook_events: number;
  webhook_failures: number;
}

export async function readExercised(observer: Observer): Promise<Exercised> {
  const strategies = await observer.query<{ strategy: string; count: number }>(
    `select r.strategy, count(*)::int from history.strategy_run s join lanefold.run r on r.thread_id = s.thread_id and r.id = s.run_id
     where r.status = 'completed' group by 1 order by 1`,
  );
  const [counts] = await observer.query<Omit<Exercised, 'strategies'>>(
    `select (select count(*)::int from lanefold._child_run) as sub_agents,
       count(*) filter (where kind = 'handed_over')::int as handoffs,
       count(*) filter (where kind = 'approval_decided')::int as decisions,
       (select count(*)::int from lanefold.thread where parent_thread_id is not null) as forks,
       count(*) filter (where kind = 'run_delayed')::int as delays,
       (select count(*)::int from history.limited_call) as limited_calls,
       (select count(odd)::int from history.provider_call) as odd_answers,
       (select count(*)::int from lanefold.schedule_slot where status = 'fired') as slots,
       (select count(*)::int from lanefold.run_wait where kind in ('event', 'time') and status in ('resolved', 'expired')) as waits,
       (select count(distinct id)::int from history.webhook_request where accepted) as webhook_events,
       (select count(*)::int from history.webhook_request where not accepted) as webhook_failures
     from lanefold.run_event where kind in ('handed_over', 'approval_decided', 'run_delayed')`,
  );
  return { strategies: Object.fromEntries(strategies.map(({ strategy, count }) => [strategy, count])), ...counts! };
}
