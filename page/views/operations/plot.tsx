import uPlot from 'uplot';
import { useEffect, useRef } from 'preact/hooks';
import { theme } from '../../state/theme.ts';

export interface Series {
  label: string;
  /** Name of a colour of the style sheet. */
  colour: string;
  values: number[];
}

const height = 180;

/** Values over time. The table beside it says the same to those who cannot see it. */
export function Plot({ label, times, series }: { label: string; times: number[]; series: Series[] }) {
  const box = useRef<HTMLDivElement>(null);
  const key = JSON.stringify([times, series, theme.value]);
  useEffect(() => {
    const element = box.current!;
    const style = getComputedStyle(element);
    const colour = (name: string) => resolved(element, style.getPropertyValue(`--${name}`));
    const axis = { stroke: colour('muted'), grid: { stroke: colour('line'), width: 1 }, ticks: { show: false } };
    const plot = new uPlot(
      {
        width: element.clientWidth || 600,
        height,
        legend: { live: false },
        cursor: { show: false },
        scales: { y: { range: (_, _min, max) => [0, Math.max(1, max)] } },
        axes: [axis, { ...axis, size: 56 }],
        series: [
          {},
          ...series.map((one) => ({
            label: one.label,
            stroke: colour(one.colour),
            fill: `${colour(one.colour)}22`,
            width: 1.5,
            points: { show: times.length < 40 },
          })),
        ],
      },
      [times, ...series.map(({ values }) => values)],
      element,
    );
    const resize = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    resize.observe(element);
    return () => {
      resize.disconnect();
      plot.destroy();
    };
  }, [key]);
  return <div ref={box} class="plot" role="img" aria-label={label} />;
}

/** A colour of the style sheet as `#rrggbb`, which a canvas understands: it may depend on the theme. */
function resolved(element: HTMLElement, value: string): string {
  const probe = document.createElement('span');
  probe.style.color = value;
  element.append(probe);
  const [r = 0, g = 0, b = 0] = getComputedStyle(probe).color.match(/\d+/g)?.map(Number) ?? [];
  probe.remove();
  return `#${[r, g, b].map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}
