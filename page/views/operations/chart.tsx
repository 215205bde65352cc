import { Fragment, type ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';

/** One colour of the bars of a chart. */
export interface Part {
  label: string;
  /** Name of a colour of the style sheet. */
  colour: 'accent' | 'good' | 'bad' | 'wait' | 'muted';
  values: number[];
  /** The filter of its runs; default: those of the whole bar. */
  query?: Record<string, string>;
}

/** A line across a chart: from then on, a version was there. */
export interface Line {
  /** In slots from the left. */
  at: number;
  label: string;
}

interface Props {
  title: string;
  /** What is beside the title: the sum. */
  sum: ComponentChildren;
  /** Parts of each bar, the lowest first. */
  parts: Part[];
  /** When each slot begins, in words. */
  times: string[];
  lines: Line[];
  /** A value in words, for the axis and for the name of a bar. */
  words: (value: number) => string;
  /** Values are counts: the axis has no half of an odd number. */
  whole?: boolean;
  /** The runs of a bar, or of one of its parts. */
  linkOf: (slot: number, query?: Record<string, string>) => string;
  /** Parts lie over one another, and the highest one counts. */
  layered?: boolean;
  /** Without axes and legend. */
  small?: boolean;
}

const height = 100;

/**
 * Bars over time. Each leads to its runs, and a part with a filter to its own: one bar is in the tab order, arrow keys reach the
 * others, and the parts of a bar.
 */
export function Chart({
  title,
  sum,
  parts,
  times,
  lines,
  words,
  linkOf,
  whole = false,
  layered = false,
  small = false,
}: Props) {
  const heights = times.map((_, slot) => {
    const values = parts.map(({ values: all }) => all[slot]!);
    return layered ? Math.max(...values) : values.reduce((total, value) => total + value, 0);
  });
  const most = Math.max(0, ...heights);
  return (
    <figure class={small ? 'chart small' : 'chart'}>
      <figcaption>
        <h3>{title}</h3>
        <span>{sum}</span>
      </figcaption>
      {!small && <LineLabels lines={lines} slots={times.length} />}
      <div class="chart-area">
        {!small && (
          <div class="chart-axis" aria-hidden="true">
            <span>{most > 0 ? words(most) : ''}</span>
            <span>{most > 0 && !(whole && most % 2) ? words(most / 2) : ''}</span>
            <span>{most > 0 ? words(0) : ''}</span>
          </div>
        )}
        <Bars {...{ title, parts, times, lines, words, linkOf, layered, heights, most }} />
      </div>
      {!small && (
        <div class="chart-times" aria-hidden="true">
          <span>{times[0]}</span>
          <span>{times[Math.floor(times.length / 2)]}</span>
          <span>{times.at(-1)}</span>
        </div>
      )}
      {!small && parts.length > 1 && (
        <ul class="legend">
          {parts.map(({ label, colour }) => (
            <li key={label} class={`of-${colour}`}>
              {label}
            </li>
          ))}
        </ul>
      )}
    </figure>
  );
}

type BarsProps = Omit<Props, 'sum' | 'small' | 'whole' | 'layered'> & {
  heights: number[];
  most: number;
  layered: boolean;
};

function Bars({ title, parts, times, lines, words, linkOf, layered, heights, most }: BarsProps) {
  const box = useRef<SVGSVGElement>(null);
  const filled = heights.flatMap((value, slot) => (value > 0 ? [slot] : []));
  const [chosen, choose] = useState<number>();
  const current = chosen !== undefined && filled.includes(chosen) ? chosen : filled.at(-1);
  const onKeyDown = (event: KeyboardEvent) => {
    const place = filled.indexOf(current!);
    const steps: Record<string, number> = {
      ArrowLeft: place - 1,
      ArrowRight: place + 1,
      Home: 0,
      End: filled.length - 1,
    };
    const next = filled[steps[event.key] ?? -1];
    const links = [...box.current!.querySelectorAll<SVGAElement>(`[data-slot="${next ?? current}"]`)];
    const within = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    const target = within
      ? links[links.indexOf(document.activeElement as never) + within]
      : next === undefined
        ? undefined
        : links[0];
    if (!target) return;
    event.preventDefault();
    if (next !== undefined) choose(next);
    target.focus();
  };
  const name = (slot: number) =>
    `${times[slot]}: ${parts.map(({ label, values }) => `${words(values[slot]!)} ${label}`).join(', ')}`;
  return (
    <svg
      ref={box}
      class="bars"
      viewBox={`0 0 ${times.length} ${height}`}
      preserveAspectRatio="none"
      role="group"
      aria-label={`${title} over time`}
      onKeyDown={onKeyDown}
    >
      <path
        class="grid"
        d={`M0 0.5H${times.length}M0 ${height / 2}H${times.length}M0 ${height - 0.5}H${times.length}`}
      />
      {filled.map((slot) => {
        const drawn = stacked(parts, slot, most, layered);
        const rect = ({ colour, y, size }: Drawn) => (
          <rect key={colour} class={`of-${colour}`} x={slot + 0.1} y={y} width={0.8} height={size} />
        );
        return (
          <Fragment key={slot}>
            <a
              href={linkOf(slot)}
              tabIndex={slot === current ? 0 : -1}
              data-slot={slot}
              aria-label={name(slot)}
              onFocus={() => choose(slot)}
            >
              <title>{name(slot)}</title>
              <rect class="hit" x={slot} y={0} width={1} height={height} />
              {drawn.filter(({ query }) => !query).map(rect)}
            </a>
            {drawn.map((part) => {
              const { query, label, value } = part;
              if (!query) return null;
              const says = `${times[slot]}: ${words(value)} ${label}`;
              return (
                <a key={label} href={linkOf(slot, query)} tabIndex={-1} data-slot={slot} aria-label={says}>
                  <title>{says}</title>
                  {rect(part)}
                </a>
              );
            })}
          </Fragment>
        );
      })}
      {lines.map(({ at, label }) => (
        <path key={`${at} ${label}`} class="deploy" d={`M${at} 0V${height}`} />
      ))}
    </svg>
  );
}

interface Drawn extends Omit<Part, 'values'> {
  value: number;
  y: number;
  size: number;
}

/** The parts of a bar from the bottom up. What is not zero shows, however small it is. */
function stacked(parts: Part[], slot: number, most: number, layered: boolean): Drawn[] {
  let from = height;
  return parts.flatMap(({ values, ...part }) => {
    const value = values[slot]!;
    if (value <= 0) return [];
    const size = Math.max(2, (value / most) * (height - 2));
    const y = (layered ? height : from) - size;
    from -= size;
    return [{ ...part, value, y: Math.max(0, y), size }];
  });
}

/** As in the style sheet. */
const labelWidth = 0.32;

/** Labels above the lines, unless one would lie on another. */
function LineLabels({ lines, slots }: { lines: Line[]; slots: number }) {
  let taken = 0;
  const shown = lines.flatMap(({ at, label }) => {
    const place = at / slots;
    const left = place > 1 - labelWidth;
    const from = left ? place - labelWidth : place;
    if (from < taken) return [];
    taken = from + labelWidth;
    return [{ place, label, left }];
  });
  return (
    <div class="chart-deploys" aria-hidden="true">
      {shown.map(({ place, label, left }) => (
        <span key={`${place} ${label}`} class={left ? 'left' : ''} style={{ left: `${place * 100}%` }}>
          {label}
        </span>
      ))}
    </div>
  );
}
