import { CaseView } from './case.tsx';
import { EvalView } from './eval.tsx';
import { get } from '../../api/client.ts';
import type { Eval, EvalList as Listed } from '../../api/types.ts';
import { Empty, Failure, Loading, Status, Time } from '../../parts/basics.tsx';
import { amount, price } from '../../parts/format.ts';
import { Heading } from '../../parts/heading.tsx';
import { href, route } from '../../state/route.ts';
import { useLoaded } from '../../state/use-loaded.ts';

export interface EvalsProps {
  /** Of an eval; absent: the list of all. */
  id: string | undefined;
  /** The id of one of its cases; or `variants`, to compare `variant` with the baseline. */
  part: string | undefined;
  variant: string | undefined;
}

/** The evals, one of them, or a case of one. */
export function EvalsView({ id, part, variant }: EvalsProps) {
  if (id === undefined) return <EvalList />;
  return part === undefined || part === 'variants' ? (
    <EvalView id={id} variant={variant} />
  ) : (
    <CaseView evalId={id} caseId={part} />
  );
}

const refreshMs = 4_000;

/** The evals, the newest first. */
export function EvalList() {
  const after = route.value.query.get('after');
  const loaded = useLoaded<Listed>((signal) => get('/v1/evals', { after }, signal), [after], { everyMs: refreshMs });
  const evals = loaded.data?.data;
  const older = loaded.data?.next_after;
  return (
    <section aria-labelledby="title">
      <div class="heading">
        <Heading title="Evals" />
      </div>
      <Failure error={loaded.error} />
      {!evals && !loaded.error && <Loading />}
      {evals?.length === 0 && <Empty>There are no evals. Keep model calls as cases, then run an eval of them.</Empty>}
      {evals && evals.length > 0 && <Table evals={evals} />}
      {older && <a href={href('evals', { after: older })}>Older evals</a>}
    </section>
  );
}

const columns = ['Done', 'Failed', 'Open', 'Erased', 'Cost'];

const Table = ({ evals }: { evals: Eval[] }) => (
  <table class="list">
    <thead>
      <tr>
        <th scope="col">Dataset</th>
        <th scope="col">Status</th>
        {columns.map((title) => (
          <th key={title} scope="col" class="num">
            {title}
          </th>
        ))}
        <th scope="col" class="num">
          Started
        </th>
      </tr>
    </thead>
    <tbody>
      {evals.map(({ id, dataset, status, items, ...one }) => (
        <tr key={id}>
          <th scope="row">
            <a href={href('evals', id)} class="row-link">
              <span class="preview">{dataset}</span>
              <span class="id">{id}</span>
            </a>
          </th>
          <td>
            <Status status={status} />
          </td>
          {[
            amount(items.done),
            amount(items.failed),
            amount(items.waiting + items.running + items.scoring),
            amount(items.erased),
            price({ cost: one.cost_micros / 1e6, unpriced_tokens: 0 }),
          ].map((value, at) => (
            <td key={columns[at]} data-label={columns[at]} class="num">
              {value}
            </td>
          ))}
          <td data-label="Started" class="num">
            <Time at={one.created_at} />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);
