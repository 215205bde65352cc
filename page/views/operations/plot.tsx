import { useEffect, useRef } from 'preact/hooks';
import { theme } from '../../state/theme.ts';
import type { Series } from './series.ts';

/**
 * Values over time. The plot library is loaded with the first plot; the caption gives the same information in words.
 */
export function Plot({ label, times, series }: { label: string; times: number[]; series: Series[] }) {
  const box = useRef<HTMLDivElement>(null);
  const key = JSON.stringify([times, series, theme.value]);
  useEffect(() => {
    let remove: (() => void) | undefined;
    let left = false;
    void import('./draw-plot.ts').then(({ drawPlot }) => {
      if (!left) remove = drawPlot(box.current!, times, series);
    });
    return () => {
      left = true;
      remove?.();
    };
  }, [key]);
  return <div ref={box} class="plot" role="img" aria-label={label} />;
}
