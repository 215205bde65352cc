import { median } from './median.ts';
import type { Contestant, FiguresOf } from './side-by-side.ts';

/** Prints each contestant's runs per second and CPU, and its speed relative to the first one, compared round by round. */
export function printRelativeSpeed(
  figuresOf: FiguresOf,
  contestants: Contestant[],
  concurrencies: readonly number[],
): void {
  const width = Math.max(...contestants.map(({ name }) => name.length));
  for (const concurrency of concurrencies) {
    const bare = figuresOf(contestants[0]!, concurrency).runsPerSecondOfRounds;
    for (const contestant of contestants) {
      const { runsPerSecond, runsPerSecondOfRounds, node, postgres = NaN } = figuresOf(contestant, concurrency);
      const speed = median(runsPerSecondOfRounds.map((runs, round) => runs / bare[round]!));
      console.log(
        `c=${String(concurrency).padEnd(3)} ${contestant.name.padEnd(width)} ${runsPerSecond.toFixed(0)} runs/s  ${(100 * speed).toFixed(1)} %  CPU per run: Node ${node.toFixed(2)} ms, PostgreSQL ${postgres.toFixed(2)} ms`,
      );
    }
  }
}
