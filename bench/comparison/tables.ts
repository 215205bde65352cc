import type { Contestant } from '../support/contestant.ts';
import type { Figures } from '../support/side-by-side.ts';

type FiguresOf = (contestant: Contestant, concurrency: number) => Figures;

const concurrencyWidth = 10;
const nameWidth = 19;

const number = (value: number | undefined, width: number, digits = 2) =>
  (value === undefined ? '-' : value.toFixed(digits)).padStart(width);

/** CPU of all processes that take part in a run; undefined on systems without `/proc`. */
const allCpu = ({ node, postgres, redis = 0, server = 0 }: Figures, { usesRedis }: Contestant) =>
  postgres === undefined ? undefined : node + postgres + (usesRedis ? redis : 0) + server;

export function printFigures(contestants: Contestant[], concurrencies: readonly number[], figuresOf: FiguresOf): void {
  const columns = ['runs/s', 'Node', 'PostgreSQL', 'Redis', 'own server', 'all'];
  const widths = columns.map((column) => Math.max(column.length + 1, 8));
  console.log(
    'at a time'.padEnd(concurrencyWidth) +
      'system'.padEnd(nameWidth) +
      columns.map((column, i) => column.padStart(widths[i]!)).join(''),
  );
  for (const concurrency of concurrencies) {
    for (const contestant of contestants) {
      const figures = figuresOf(contestant, concurrency);
      const { runsPerSecond, node, postgres, redis, server } = figures;
      const redisCpu = contestant.usesRedis ? redis : undefined;
      const cells = [runsPerSecond, node, postgres, redisCpu, server, allCpu(figures, contestant)];
      console.log(
        String(concurrency).padEnd(concurrencyWidth) +
          contestant.name.padEnd(nameWidth) +
          cells.map((cell, i) => number(cell, widths[i]!, i === 0 ? 1 : 2)).join(''),
      );
    }
  }
}

export function printStorage(contestants: Contestant[], concurrency: number, figuresOf: FiguresOf): void {
  for (const contestant of contestants) {
    const { storedBytes } = figuresOf(contestant, concurrency);
    console.log(`${contestant.name.padEnd(nameWidth)}${(storedBytes / 1_000).toFixed(2).padStart(8)} kB`);
  }
}

/** Prints the ratio of each of `ours` to each of `others`. */
export function printRatios(
  ours: Contestant[],
  others: Contestant[],
  concurrencies: readonly number[],
  figuresOf: FiguresOf,
): void {
  for (const own of ours) {
    for (const other of others) {
      for (const concurrency of concurrencies) {
        const [a, b] = [figuresOf(own, concurrency), figuresOf(other, concurrency)];
        const [cpuA, cpuB] = [allCpu(a, own), allCpu(b, other)];
        const cpu = cpuA && cpuB ? `, all CPU ${(cpuA / cpuB).toFixed(2)}` : '';
        console.log(
          `${own.name} / ${other.name}`.padEnd(40) +
            `c=${String(concurrency).padEnd(3)} runs/s ${(a.runsPerSecond / b.runsPerSecond).toFixed(2)}, Node CPU ${(a.node / b.node).toFixed(2)}${cpu}`,
        );
      }
    }
  }
}
