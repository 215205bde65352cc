import { changing, hotShare, type Interval } from './interval.ts';
import { mean } from '../support/median.ts';

/** Growth of reads per run that is worth a line, and how many are. */
const grown = { times: 1.5, by: 1, shown: 12 };

const percent = (share: number) => `${(100 * share).toFixed(0)} %`;
const short = (table: string) => table.replace(/^lanefold\./, '');

export function printInterval(when: string, interval: Interval): void {
  const { runsPerSecond, skipped, p50Ms, p95Ms, cpuMs, walBytes, commits, tables } = interval;
  const dead = changing(tables).map(({ name, deadRows }) => `${short(name)} ${deadRows}`);
  console.log(
    `${when.padStart(6)} ${runsPerSecond.toFixed(0).padStart(4)} runs/s  p50 ${p50Ms.toFixed(0)} ms  p95 ${p95Ms.toFixed(0)} ms  CPU ${cpuMs.toFixed(2)} ms  ` +
      `WAL ${(walBytes / 1_000).toFixed(1)} kB  ${commits.toFixed(1)} commits  HOT ${percent(hotShare(tables))}  dead: ${dead.join(', ')}` +
      (skipped > 0 ? `; ${skipped} runs skipped, too many open` : ''),
  );
}

/** Compares the intervals before with as many at the end; what a run reads, with the last of each. */
export function printComparison(
  before: Interval[],
  atEnd: Interval[],
  capacity: { before: number; held: number; after: number },
): void {
  const ratio = (read: (interval: Interval) => number) => (mean(atEnd.map(read)) / mean(before.map(read))).toFixed(2);
  const [free, held] = [before.at(-1)!, atEnd.at(-1)!];
  console.log(
    `At the end, compared with before: rate ${ratio((one) => one.runsPerSecond)} (goal 0.9), p50 ${ratio((one) => one.p50Ms)}, p95 ${ratio((one) => one.p95Ms)}, ` +
      `CPU ${ratio((one) => one.cpuMs)}, WAL ${ratio((one) => one.walBytes)}; ` +
      `capacity ${capacity.held.toFixed(0)} runs/s, ${(capacity.held / capacity.before).toFixed(2)} of that before, ` +
      `${(capacity.held / capacity.after).toFixed(2)} of that after a vacuum without the snapshot (${capacity.after.toFixed(0)})`,
  );
  const hot = changing(held.tables)
    .filter(({ updates }) => updates > 0)
    .map((table) => `${short(table.name)} ${percent(hotShare([table]))} of ${table.updates}`);
  console.log(`HOT updates of the last ten seconds: ${hot.join(', ')}`);
  const reads = Object.entries(held.reads)
    .map(([what, count]) => ({ what, count, earlier: free.reads[what] ?? 0 }))
    .filter(({ count, earlier }) => count > earlier * grown.times && count - earlier >= grown.by)
    .toSorted((a, b) => b.count - b.earlier - (a.count - a.earlier))
    .slice(0, grown.shown);
  console.log('What a run reads more of than before:');
  for (const { what, count, earlier } of reads) console.log(`  ${what}: ${earlier.toFixed(1)} → ${count.toFixed(1)}`);
}
