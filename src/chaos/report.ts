import { everyRunEnded } from './checks/runs-end.ts';
import { acknowledgedIsStored, finishedCallNotRestarted, neverReplayed } from './history.ts';
import type { Observer } from './observer.ts';
import type { CheckResult } from './run-checks.ts';
import type { Scenario } from './scenario.ts';
import type { FaultKind } from './schedule.ts';
import { spreadOf, type Spread } from './spread.ts';
import type { Violation } from './checks/check.ts';

/** The result of one campaign, as `lanefold chaos --json` prints it. */
export interface CampaignReport {
  queue: 'postgres' | 'redis';
  /** Injected faults that hit at least one active run. */
  scenarios: number;
  /** False if the campaign ended before it reached the requested number of scenarios. */
  reached: boolean;
  /** Workers killed by the campaign. */
  worker_deaths: number;
  runs: { total: number; completed: number; failed: number; cancelled: number };
  /** Runs of a tree of thoughts that completed. */
  trees: number;
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
  dir: string;
}

interface Findings {
  queue: 'postgres' | 'redis';
  reached: boolean;
  scenarios: Scenario[];
  times: Map<number, number[]>;
  kills: number;
  unexpectedExits: string[];
  lateStarts: number;
  trees: number;
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
    queue: found.queue,
    scenarios: scenarios.length,
    reached: found.reached,
    worker_deaths: found.kills,
    runs: runs!,
    trees: found.trees,
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
    dir: found.dir,
  };
}

const listed = (counts: Record<string, number>): string =>
  Object.entries(counts)
    .map(([what, count]) => `${count} ${what}`)
    .join(', ');

const figures = [
  ['scenarios', (report) => report.scenarios],
  ['worker deaths', (report) => report.worker_deaths],
  ['runs', (report) => report.runs.total],
  ['completed / failed / cancelled', ({ runs }) => `${runs.completed} / ${runs.failed} / ${runs.cancelled}`],
  ['failed, by error', ({ failures }) => listed(failures) || 'none'],
  ['model calls answered', (report) => report.model_calls],
  ['model calls lost and made again', (report) => report.lost_model_calls],
  ['tool calls', (report) => report.tool_calls],
  ['lost', (report) => report.lost],
  ['duplicated', (report) => report.duplicated],
  ['finished tools repeated', (report) => report.finished_tools_repeated],
  ['late starts by frozen workers', (report) => report.late_starts],
  ['orphan calls', (report) => report.orphan_calls],
  ['hung', (report) => report.hung],
  ['violations of any kind', (report) => report.violations.length],
  ['recovery p50 / p95 / max, ms', ({ recovery_ms: { p50, p95, max } }) => `${p50} / ${p95} / ${max}`],
] satisfies [string, (report: CampaignReport) => string | number][];

/** The figures as table rows, one column per campaign. */
export const reportRows = (reports: readonly CampaignReport[]): string[][] => [
  ['', ...reports.map((report) => `queue in ${report.queue === 'redis' ? 'Redis' : 'PostgreSQL'}`)],
  ...figures.map(([name, value]) => [name, ...reports.map((report) => value(report).toLocaleString('en'))]),
];
