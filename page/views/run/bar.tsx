import { duration } from '../../parts/format.ts';

/** A bar on a line of `total` ms, and how long it is. */
export const Bar = ({ start, end, total }: { start: number; end: number; total: number }) => (
  <>
    <span class="span-track" aria-hidden="true">
      <span
        class="span-bar"
        style={{ left: `${(start / total) * 100}%`, width: `${((end - start) / total) * 100}%` }}
      />
    </span>
    <span class="span-time num">{end > start ? duration(end - start) : `at ${duration(start)}`}</span>
  </>
);
