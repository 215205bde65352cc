import { drawing, legend, line } from './svg.ts';

/** Median ms of each statement, by its name. */
export type Times = Map<string, number>;

/** A database with so many entries. */
export interface Measured {
  entries: number;
  times: Times;
}

const [width, height, left, right, top, bottom] = [900, 420, 70, 250, 50, 40];
const colours = ['#d62728', '#1f77b4', '#2ca02c', '#9467bd', '#ff7f0e', '#17becf', '#8c564b', '#e377c2'];
/** Below this, a measurement is noise. */
const leastMs = 0.1;

/**
 * Draws what statements take in databases of several sizes as an SVG, on two logarithmic axes: a line for each statement, of which
 * the ones that grew most are named.
 */
export function plotGrowth(title: string, measured: readonly Measured[]): string {
  const lines = [...measured[0]!.times.keys()].map((name) => {
    const values = measured.map(({ times }) => Math.max(leastMs, times.get(name) ?? leastMs));
    return { name, values, grew: values.at(-1)! / values[0]! };
  });
  lines.sort((a, b) => b.grew - a.grew);
  const x = scale(
    measured.map(({ entries }) => entries),
    [left, width - right],
  );
  const y = scale([leastMs, ...lines.flatMap(({ values }) => values)], [height - bottom, top]);
  const drawn = lines.map(({ name, values, grew }, n) => {
    const points = values.map((ms, at) => `${x.of(measured[at]!.entries)},${y.of(ms)}`);
    const colour = colours[n] ?? '#ccc';
    const place = { x: width - right + 12, y: top + 12 };
    const named = n < colours.length ? legend(`${name} (${grew.toFixed(1)}×)`, colour, n, place) : '';
    return line(points, colour) + named;
  });
  const grid = y.powers.map(
    (ms) =>
      `<line x1="${left}" x2="${width - right}" y1="${y.of(ms)}" y2="${y.of(ms)}" stroke="#ddd"/><text x="${left - 8}" y="${y.of(ms)}" text-anchor="end">${ms} ms</text>`,
  );
  const ticks = measured.map(
    ({ entries }) =>
      `<text x="${x.of(entries)}" y="${height - bottom + 18}" text-anchor="middle">${entries.toLocaleString('en')}</text>`,
  );
  return drawing({ width, height, left }, title, [...grid, ...ticks, ...drawn.reverse()]);
}

/** A logarithmic scale that holds these values, between two places. */
function scale(values: readonly number[], [from, to]: [number, number]) {
  const [first, last] = [Math.log10(Math.min(...values)), Math.log10(Math.max(...values))];
  return {
    of: (value: number) => Number((from + ((Math.log10(value) - first) / (last - first)) * (to - from)).toFixed(1)),
    powers: [0.1, 1, 10, 100, 1_000, 10_000].filter((power) => power >= 10 ** first && power <= 10 ** last),
  };
}
