import { diffLines, type Mismatch } from './mismatch.ts';

/** The result of a replay. `modelCalls` and `toolCalls` are counted in the log afterwards. */
export interface ReplayReport {
  threads: number;
  runs: number;
  modelCalls: number;
  toolCalls: number;
  mismatches: number;
  runsPerSecond: number;
  elapsedMs: number;
  queue: 'redis' | 'postgres';
  concurrency: number;
  firstMismatches: Mismatch[];
}

/** The report as JSON. */
export const reportJson = (report: ReplayReport) => ({
  threads: report.threads,
  runs: report.runs,
  model_calls: report.modelCalls,
  tool_calls: report.toolCalls,
  mismatches: report.mismatches,
  runs_per_s: Number(report.runsPerSecond.toFixed(1)),
  elapsed_ms: report.elapsedMs,
  queue: report.queue,
  concurrency: report.concurrency,
  first_mismatches: report.firstMismatches,
});

/** The report as text: the figures, then the first few mismatches. */
export function reportLines(report: ReplayReport, show = 5): string[] {
  const figures = Object.entries(reportJson(report)).flatMap(([key, value]) =>
    typeof value === 'object' ? [] : [`${key.padEnd(12)} ${value}`],
  );
  const shown = report.firstMismatches.slice(0, show).flatMap(mismatchLines);
  const more = report.mismatches - Math.min(show, report.firstMismatches.length);
  return [...figures, ...shown, ...(shown.length > 0 && more > 0 ? [`… and ${more} more`] : [])];
}

const mismatchLines = (mismatch: Mismatch): string[] => [
  '',
  `${mismatch.thread}, message ${mismatch.message}, in ${mismatch.at}: ${mismatch.field} differs (- recorded, + replayed)`,
  ...diffLines(mismatch).map((line) => `  ${line}`),
];
