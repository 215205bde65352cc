import type { Scenario } from './inject.ts';
import { spreadOf, type Spread } from './recovery.ts';
import type { FaultKind } from './schedule.ts';
import type { Violation } from './check.ts';
import type { Watch } from './watch.ts';

/** What one campaign came to, as it leaves the process. */
export interface CampaignReport {
  queue: 'postgres' | 'redis';
  /** Injected faults that hit at least one active run. */
  scenarios: number;
  /** False where the time limit came first. */
  reached: boolean;
  /** Workers killed by the campaign. */
  worker_deaths: number;
  runs: { total: number; completed: number; failed: number; cancelled: number };
  /** Of failed runs, by the type of their error. */
  failures: Record<string, number>;
  entries: number;
  model_calls: number;
  lost_model_calls: number;
  tool_calls: number;
  /** Acknowledged runs, inputs and operations that are not there. */
  lost: number;
  /** Entries or terminal events that are there twice, or changed. */
  duplicated: number;
  /** Starts of a call by its run's holder after its outcome was stored. */
  finished_tools_repeated: number;
  /** The same by workers that had been frozen and had lost the run. */
  late_starts: number;
  orphan_calls: number;
  hung: number;
  /** From the blow until each run it hit moved on. */
  recovery_ms: Spread;
  faults: Partial<Record<FaultKind, { scenarios: number; runs_hit: number; recovery_ms: Spread }>>;
  violations: Violation[];
  elapsed_ms: number;
  /** Kept where there is a violation. */
  dir: string;
}

interface Findings {
  queue: 'postgres' | 'redis';
  reached: boolean;
  scenarios: Scenario[];
  times: Map<number, number[]>;
  kills: number;
  ownDeaths: string[];
  lateStarts: number;
  verdict: { violations: Violation[]; projectedCalls: number };
  elapsedMs: number;
  dir: string;
}

/** Counts what is in the database and what was found wrong with it. */
export async function summarise(watch: Watch, found: Findings): Promise<CampaignReport> {
  const { scenarios, times, verdict } = found;
  const violations = [
    ...verdict.violations,
    ...found.ownDeaths.map((how) => ({ invariant: 'I5', name: 'a worker dies only when it is killed', row: { how } })),
  ];
  const count = (...names: string[]) =>
    violations.filter(({ invariant, name }) => names.some((text) => invariant === text || name === text)).length;
  const [runs] = await watch.query<CampaignReport['runs']>(
    `select count(*)::int as total, count(*) filter (where status = 'completed')::int as completed,
       count(*) filter (where status = 'failed')::int as failed, count(*) filter (where status = 'cancelled')::int as cancelled
     from lanefold.run`,
  );
  const failures = await watch.query<{ type: string; count: number }>(
    `select coalesce(error ->> 'type', termination_reason) as type, count(*)::int from lanefold.run where status = 'failed' group by 1`,
  );
  const [totals] = await watch.query<{ entries: number; lost_model_calls: number; tool_calls: number }>(
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
    failures: Object.fromEntries(failures.map(({ type, count: n }) => [type, n])),
    entries: totals!.entries,
    model_calls: verdict.projectedCalls,
    lost_model_calls: totals!.lost_model_calls,
    tool_calls: totals!.tool_calls,
    lost: count('what was acknowledged is there'),
    duplicated: count('I2', 'I3'),
    finished_tools_repeated: count(
      'no holder of a run starts a call whose outcome is stored',
      'a tool that must never run again was started once at most',
    ),
    late_starts: found.lateStarts,
    orphan_calls: count('I4'),
    hung: count('every run has ended'),
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

/** The figures as rows of a table, a column a campaign. */
export const reportRows = (reports: readonly CampaignReport[]): string[][] => [
  ['', ...reports.map((report) => `queue in ${report.queue === 'redis' ? 'Redis' : 'PostgreSQL'}`)],
  ...figures.map(([name, value]) => [name, ...reports.map((report) => value(report).toLocaleString('en'))]),
];
