import type { Activity } from '../../api/types.ts';
import { Empty, Time } from '../../parts/basics.tsx';
import { amount, price } from '../../parts/format.ts';
import { href } from '../../state/route.ts';
import { useEffect, useRef } from 'preact/hooks';
import { theme } from '../../state/theme.ts';
import type { Series } from './draw-plot.ts';

type Slot = Activity['slots'][number];

/** Tokens, cost and runs over time. */
export function Plots({ now, hours }: { now: Activity; hours: number }) {
  const { since } = now;
  const slots = withGaps(now.slots, since, hours);
  if (now.slots.length === 0) return <Empty>No run was accepted in this period.</Empty>;
  const times = slots.map(({ at }) => Date.parse(at) / 1_000);
  const values = (key: Exclude<keyof Slot, 'at'>) => slots.map((slot) => slot[key]);
  const sum = (key: Exclude<keyof Slot, 'at'>) => values(key).reduce((total, value) => total + value, 0);
  const unpriced = sum('unpriced_tokens');
  // without any known price, the cost is unknown, not 0
  const known = sum('cost') > 0 || unpriced === 0;
  const cost = price({ cost: known ? sum('cost') : null, unpriced_tokens: known ? 0 : unpriced });
  return (
    <div class="columns plots">
      <figure>
        <Plot
          label={`Tokens over time: ${sum('input_tokens')} in, ${sum('output_tokens')} out`}
          times={times}
          series={[
            { label: 'tokens in', colour: 'accent', values: values('input_tokens') },
            { label: 'tokens out', colour: 'good', values: values('output_tokens') },
          ]}
        />
        <figcaption>
          {amount(sum('input_tokens'))} tokens in ({amount(sum('cached_tokens'))} cached),{' '}
          {amount(sum('output_tokens'))} out
        </figcaption>
      </figure>
      <figure>
        <Plot
          label={`Cost over time: ${cost}`}
          times={times}
          series={[{ label: 'US dollars', colour: 'accent', values: values('cost') }]}
        />
        <figcaption>
          {known ? `${cost} at list prices` : `Unpriced: ${amount(unpriced)} tokens of models without a known price`}
          {known && unpriced > 0 && `; not included: ${amount(unpriced)} tokens of models without a known price`}
        </figcaption>
      </figure>
      <figure>
        <Plot
          label={`Runs over time: ${sum('runs')}, of which ${sum('failed')} failed`}
          times={times}
          series={[
            { label: 'runs', colour: 'accent', values: values('runs') },
            { label: 'failed', colour: 'bad', values: values('failed') },
          ]}
        />
        <figcaption>
          {amount(sum('runs'))} runs since <Time at={since} />,{' '}
          <a href={href('runs', { status: 'failed' })}>{amount(sum('failed'))} failed</a>
        </figcaption>
      </figure>
    </div>
  );
}

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

type TimeSlot = Activity['slots'][number];

/** Adds the slots without runs that the API leaves out, so that a plot shows idle times. */
export function withGaps(slots: TimeSlot[], since: string, hours: number): TimeSlot[] {
  const width = hours * 36_000;
  const known = new Map(slots.map((slot) => [Math.round(Date.parse(slot.at) / width), slot]));
  const all: TimeSlot[] = [];
  for (let n = Math.ceil(Date.parse(since) / width); n <= Date.now() / width; n++) {
    const empty = {
      runs: 0,
      failed: 0,
      input_tokens: 0,
      output_tokens: 0,
      cached_tokens: 0,
      cost: 0,
      unpriced_tokens: 0,
    };
    all.push(known.get(n) ?? { at: new Date(n * width).toISOString(), ...empty });
  }
  return all;
}
