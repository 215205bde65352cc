import type { Backend } from '../../runs/queue/queue.ts';
import { everyRunEnded } from './checks/runs-end.ts';
import type { Exercised } from './exercised.ts';
import { acknowledgedIsStored, finishedCallNotRestarted, neverReplayed } from './history.ts';
import type { Observer } from './observer.ts';
import type { CheckResult } from './run-checks.ts';
import type { Scenario } from './scenario.ts';
import type { FaultKind } from './schedule.ts';
import type { Violation } from './checks/check.ts';

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
