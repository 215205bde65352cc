import { drawing, legend, line } from '../support/svg.ts';
import type { Sample, TableSize } from './sample.ts';

interface Series {
  name: string;
  /** One value per sample. */
  values: number[];
}

const [width, panelHeight, left, right, top, gap] = [900, 220, 70, 250, 60, 60];
const colours = [
  '#1f77b4',
  '#d62728',
  '#2ca02c',
  '#9467bd',
  '#ff7f0e',
  '#17becf',
  '#8c564b',
  '#e377c2',
  '#7f7f7f',
  '#bcbd22',
  '#1b4965',
  '#7a0019',
  '#0b6e4f',
  '#4b3869',
];
/** Tables per panel; smaller ones would be invisible. */
const shown = 6;

/** Draws the samples as an SVG: sizes and dead rows of the largest tables, and the duration of runs. */
export function plot(title: string, samples: Sample[]): string {
  const panels: [string, Series[]][] = [
    ['table with indexes, MB', largest(samples, ({ tableMb, indexMb }) => tableMb + indexMb)],
    ['dead rows', largest(samples, ({ deadRows }) => deadRows)],
    [
      'from request to end of run, ms',
      [
        { name: 'p50', values: samples.map(({ p50Ms }) => p50Ms) },
        { name: 'p95', values: samples.map(({ p95Ms }) => p95Ms) },
      ],
    ],
  ];
  const minutes = samples.map(({ seconds }) => seconds / 60);
  const height = top + panels.length * (panelHeight + gap);
  // a table has one colour in all panels
  const names = [...new Set(panels.flatMap(([, series]) => series.map(({ name }) => name)))];
  const colourOf = (name: string) => colours[names.indexOf(name) % colours.length]!;
  const body = panels.map(([label, series], i) =>
    panel(label, series, { minutes, y0: top + i * (panelHeight + gap), colourOf }),
  );
  return drawing({ width, height, left }, title, body);
}

/** The tables with the largest maximum. */
function largest(samples: Sample[], read: (table: TableSize) => number): Series[] {
  const names = samples.at(-1)!.tables.map(({ name }) => name);
  const series = names.map((name) => ({
    name,
    values: samples.map(({ tables }) => {
      const table = tables.find((one) => one.name === name);
      return table ? read(table) : 0;
    }),
  }));
  return series.sort((a, b) => Math.max(...b.values) - Math.max(...a.values)).slice(0, shown);
}

interface Place {
  minutes: number[];
  /** Upper edge. */
  y0: number;
  colourOf: (name: string) => string;
}

function panel(label: string, series: Series[], { minutes, y0, colourOf }: Place): string {
  const most = niceCeiling(Math.max(1e-6, ...series.flatMap(({ values }) => values)));
  const end = minutes.at(-1)!;
  const x = (minute: number) => left + (minute / end) * (width - left - right);
  const y = (value: number) => y0 + panelHeight - (value / most) * panelHeight;
  const grid = [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const at = y(share * most);
    return `<line x1="${left}" x2="${width - right}" y1="${at}" y2="${at}" stroke="#ddd"/><text x="${left - 8}" y="${at + 4}" text-anchor="end">${short(share * most)}</text>`;
  });
  const ticks = [0, 0.25, 0.5, 0.75, 1].map(
    (share) =>
      `<text x="${x(share * end)}" y="${y0 + panelHeight + 16}" text-anchor="middle">${short(share * end)} min</text>`,
  );
  const lines = series.map(({ name, values }, i) => {
    const points = values.map((value, j) => `${x(minutes[j]!).toFixed(1)},${y(value).toFixed(1)}`);
    const named = legend(name, colourOf(name), i, { x: width - right + 12, y: y0 + 12 });
    return line(points, colourOf(name)) + named;
  });
  return [`<text x="${left}" y="${y0 - 8}" font-weight="bold">${label}</text>`, ...grid, ...ticks, ...lines].join('\n');
}

const short = (value: number): string => String(Number(value.toPrecision(3)));

/** Rounds up to 1, 2, 4, 5, 8 or a power of ten times one of them, for even grid lines. */
function niceCeiling(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 4, 5, 8, 10].find((step) => step * power >= value)! * power;
}
