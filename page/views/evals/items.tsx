import { useSignal } from '@preact/signals';
import { get, v1 } from '../../api/client.ts';
import type { EvalItem, EvalItemList } from '../../api/types.ts';
import { Failure, Loading } from '../../parts/basics.tsx';
import { href } from '../../state/route.ts';
import { useLoaded } from '../../state/use-loaded.ts';
import { CaseName } from './grid.tsx';
import type { Cases } from './report.ts';
import { fails, scoreText } from '../answers/scores.ts';

const refreshMs = 4_000;

interface ItemsProps {
  id: string;
  cases: Cases;
  running: boolean;
}

/** Every item in the order in which they run, also those that no comparison counts; loaded once it is open. */
export function Items({ open, ...props }: ItemsProps & { open: boolean }) {
  const shown = useSignal(open);
  return (
    <details class="fold" open={open} onToggle={(event) => (shown.value = event.currentTarget.open)}>
      <summary>All items</summary>
      {shown.value && <Loaded {...props} />}
    </details>
  );
}

function Loaded({ id, cases, running }: ItemsProps) {
  const after = useSignal(0);
  const loaded = useLoaded<EvalItemList>(
    (signal) => get(v1('evals', id, 'items'), { after: after.value }, signal),
    [id, after.value, running],
    { everyMs: running ? refreshMs : undefined },
  );
  const next = loaded.data?.next_after;
  return (
    <>
      <Failure error={loaded.error} />
      {!loaded.data && !loaded.error && <Loading />}
      {loaded.data && <Table id={id} cases={cases} items={loaded.data.data} />}
      <div class="actions">
        {after.value > 0 && (
          <button type="button" onClick={() => (after.value = 0)}>
            First items
          </button>
        )}
        {next != null && (
          <button type="button" onClick={() => (after.value = next)}>
            Next items
          </button>
        )}
      </div>
    </>
  );
}

const Table = ({ id, cases, items }: { id: string; cases: Cases; items: EvalItem[] }) => (
  <table class="list" aria-label="Items">
    <thead>
      <tr>
        {['Case', 'Variant', 'Repeat', 'Status', 'Scores'].map((title) => (
          <th key={title} scope="col">
            {title}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {items.map((item) => (
        <tr key={item.no}>
          <th scope="row">
            <a href={href('evals', id, item.case_id)} class="row-link">
              <CaseName id={item.case_id} cases={cases} />
            </a>
          </th>
          <td data-label="Variant">{item.variant}</td>
          <td data-label="Repeat">{item.repeat}</td>
          <td>
            <span class={`status ${item.status === 'failed' ? 'bad' : 'idle'}`}>{item.status}</span>
          </td>
          <td data-label="Scores">
            <span class={fails(item) ? 'tag bad' : ''}>
              {item.scores.map(({ scorer, score }) => `${scorer} ${scoreText(score)}`).join(', ') || '–'}
            </span>
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);
