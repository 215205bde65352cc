import { useRef } from 'preact/hooks';
import { fullTime, number } from '../../parts/format.ts';
import { setQuery } from '../../state/route.ts';
import type { ThreadState } from '../../state/thread.ts';

const settleMs = 120;

/** Moves the whole view to an earlier moment of the log. */
export function Slider({ state }: { state: ThreadState }) {
  const timer = useRef(0);
  const head = state.head.value;
  if (head < 1) return null;
  const at = state.shownAt.value;
  const entry = state.entries.value.find(({ seq }) => seq === at);
  const go = (to: number | null) => {
    setQuery({ at: to === null ? undefined : String(to) });
    void state.seek(to);
  };
  // Dragging passes many entries, so read only once the reader stops.
  const drag = (to: number) => {
    state.at.value = to;
    clearTimeout(timer.current);
    timer.current = setTimeout(() => go(to), settleMs) as unknown as number;
  };
  const past = state.at.value !== null;
  return (
    <div class={past ? 'slider past' : 'slider'}>
      <label for="at">As of entry</label>
      <button type="button" class="small" aria-label="One entry back" disabled={at <= 0} onClick={() => go(at - 1)}>
        ‹
      </button>
      <input
        id="at"
        type="range"
        min={0}
        max={head}
        value={at}
        aria-valuetext={`entry ${at} of ${head}`}
        onInput={(event) => drag(Number(event.currentTarget.value))}
      />
      <button
        type="button"
        class="small"
        aria-label="One entry forward"
        disabled={at >= head}
        onClick={() => go(at + 1)}
      >
        ›
      </button>
      <output for="at" class="num">
        {number(at)} / {number(head)}
      </output>
      <span class="muted when">{entry ? fullTime(entry.at) : ''}</span>
      <button type="button" class="small" disabled={!past} onClick={() => go(null)}>
        Now
      </button>
    </div>
  );
}
