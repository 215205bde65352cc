import type { LimitUse, UsedLimit } from '../../api/types.ts';
import { Time } from '../../parts/basics.tsx';
import { amount, fullTime } from '../../parts/format.ts';
import { shown } from './words.ts';

/** One bucket of a limit: what is used of it, how much of that is reserved, and who waits. */
export function Usage({ limit, use }: { limit: UsedLimit; use: LimitUse }) {
  return (
    <tr>
      <th scope="row">{use.key || 'all together'}</th>
      <td data-label="used">
        <Bar use={use} label={`${shown(limit, use.used)} of ${shown(limit, use.amount)} used`} />
        {shown(limit, use.used)} of {shown(limit, use.amount)}
        {use.reserved > 0 && <span class="muted">, {shown(limit, use.reserved)} reserved</span>}
      </td>
      <td data-label="over time">
        {use.slices && <Slices slices={use.slices} />}
        {use.resets_at && (
          <span class="muted">
            until <time dateTime={use.resets_at}>{fullTime(use.resets_at)}</time>
          </span>
        )}
        {use.noticed_at && (
          <>
            {' '}
            <span class="status wait">
              passed <Time at={use.noticed_at} />
            </span>
          </>
        )}
        {use.drained_until && (
          <>
            {' '}
            <span class="status wait">
              provider asks to wait until <Time at={use.drained_until} />
            </span>
          </>
        )}
      </td>
      <td data-label="waiting" class="num">
        {amount(use.waiting)}
        {use.waiting_by && Object.keys(use.waiting_by).length > 0 && (
          <ul class="plain muted">
            {Object.entries(use.waiting_by)
              .sort(([, a], [, b]) => b - a)
              .map(([share, runs]) => (
                <li key={share}>
                  {share || 'without a value'}: {amount(runs)}
                </li>
              ))}
          </ul>
        )}
      </td>
      <td data-label="in total" class="num">
        {limit.kind === 'concurrency' ? '–' : shown(limit, use.total)}
      </td>
    </tr>
  );
}

const part = (value: number, of: number): number => (of > 0 ? Math.min(100, (100 * value) / of) : 100);

const Bar = ({ use: { used, reserved, amount: most }, label }: { use: LimitUse; label: string }) => (
  <svg class="usage" viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label={label}>
    <rect class="rail" width="100" height="6" />
    <rect class={used >= most ? 'full' : 'used'} width={part(used, most)} height="6" />
    <rect
      class="reserved"
      x={part(used - reserved, most)}
      width={part(used, most) - part(used - reserved, most)}
      height="6"
    />
  </svg>
);

/** What was used in each part of the interval, the oldest first. */
function Slices({ slices }: { slices: number[] }) {
  const most = Math.max(...slices, 1e-9);
  return (
    <svg
      class="slices"
      viewBox={`0 0 ${slices.length} 20`}
      preserveAspectRatio="none"
      role="img"
      aria-label="Use over the interval"
    >
      {slices.map((used, n) => (
        <rect key={n} x={n} y={20 - (20 * used) / most} width="0.8" height={(20 * used) / most} />
      ))}
    </svg>
  );
}
