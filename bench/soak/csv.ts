import type { Sample } from './sample.ts';

/** One line per sample, three columns per table. */
export function toCsv(samples: Sample[]): string {
  const names = samples.at(-1)!.tables.map(({ name }) => name);
  const head = ['seconds', 'accepted', 'skipped', 'completed', 'open', 'p50_ms', 'p95_ms', 'resident_mb'];
  const lines = samples.map((sample) => {
    const { seconds, accepted, skipped, completed, open, p50Ms, p95Ms, residentMb } = sample;
    const sizes = names.flatMap((name) => {
      const table = sample.tables.find((one) => one.name === name);
      return table ? [table.tableMb.toFixed(3), table.indexMb.toFixed(3), table.deadRows] : ['', '', ''];
    });
    return [seconds, accepted, skipped, completed, open, p50Ms, p95Ms, residentMb.toFixed(1), ...sizes].join(',');
  });
  const columns = names.flatMap((name) => [`${name}.table_mb`, `${name}.index_mb`, `${name}.dead_rows`]);
  return [[...head, ...columns].join(','), ...lines, ''].join('\n');
}
