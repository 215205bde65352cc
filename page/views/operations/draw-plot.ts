import uPlot from 'uplot';

const height = 180;

/** Draws values over time into an element. Returns a function that removes the drawing. */
export function drawPlot(element: HTMLElement, times: number[], series: Series[]): () => void {
  const style = getComputedStyle(element);
  const colour = (name: string) => resolved(element, style.getPropertyValue(`--${name}`));
  const axis = { stroke: colour('muted'), grid: { stroke: colour('line'), width: 1 }, ticks: { show: false } };
  const plot = new uPlot(
    {
      width: element.clientWidth || 600,
      height,
      legend: { live: false },
      cursor: { show: false },
      scales: { y: { range: (_, _min, max) => [0, max > 0 ? max : 1] } },
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

/** One line of a plot. */
export interface Series {
  label: string;
  /** Name of a colour of the style sheet. */
  colour: string;
  values: number[];
}
