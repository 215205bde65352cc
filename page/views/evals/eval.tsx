import { get, v1 } from '../../api/client.ts';
import type { Eval, Case, Page } from '../../api/types.ts';
import { Facts, Failure, Loading, Status, Time } from '../../parts/basics.tsx';
import { price } from '../../parts/format.ts';
import { Heading } from '../../parts/heading.tsx';
import { href } from '../../state/route.ts';
import { useLoaded } from '../../state/use-loaded.ts';
import { ComparisonView } from './comparison.tsx';
import { Grid } from './grid.tsx';
import { Items } from './items.tsx';
import type { Report, Cases, KeptCase } from './report.ts';
import { Summary } from './summary.tsx';

const refreshMs = 4_000;

/** One eval: its verdicts, its variants, and its cases under each of them. */
export function EvalView({ id, variant }: { id: string; variant: string | undefined }) {
  const loaded = useLoaded<Eval>((signal) => get(v1('evals', id), {}, signal), [id], { everyMs: refreshMs });
  const found = loaded.data;
  if (!found) return loaded.error ? <Failure error={loaded.error} /> : <Loading />;
  return (
    <article aria-labelledby="title">
      <div class="heading">
        <div>
          <p class="crumbs">
            <a href={href('evals')}>Evals</a>
          </p>
          <Heading title={`Eval of ${found.dataset}`} id={id} />
        </div>
      </div>
      <Failure error={loaded.error} />
      <Facts
        items={[
          ['Status', <Status status={found.status} />],
          ['Cost', price({ cost: found.cost_micros / 1e6, unpriced_tokens: 0 })],
          ['Tools', String(found.spec['tools'])],
          ['Started by', found.created_by],
          ['No worker has', found.unattended.join(', ') || null],
          ['Started', <Time at={found.created_at} />],
          ['Ended', found.finished_at && <Time at={found.finished_at} />],
        ]}
      />
      <Results found={found} variant={variant} />
    </article>
  );
}

function Results({ found, variant }: { found: Eval; variant: string | undefined }) {
  const { id } = found;
  const running = found.status === 'running';
  const cases = useCases(found.dataset);
  const loaded = useLoaded<Report>((signal) => get(v1('evals', id, 'report'), {}, signal), [id, running], {
    everyMs: running ? refreshMs : undefined,
  });
  const report = loaded.data;
  if (!report) return loaded.error ? <Failure error={loaded.error} /> : <Loading />;
  const { comparisons } = report;
  const chosen = comparisons.find(({ candidate }) => candidate === variant);
  return (
    <>
      <Failure error={loaded.error} />
      {chosen && (
        <>
          <p>
            <a href={href('evals', id)}>All variants</a>
          </p>
          <ComparisonView key={chosen.candidate} found={found} report={report} comparison={chosen} cases={cases} />
        </>
      )}
      {!chosen && <Summary id={id} report={report} cases={cases} />}
      {!chosen && comparisons.length > 0 && <Grid id={id} comparisons={comparisons} cases={cases} />}
      {!chosen && <Items id={id} cases={cases} open={comparisons.length === 0} running={running} />}
    </>
  );
}

const pageOfCases = 1_000;
/** An eval has at most 50,000 items, so at most 25,000 cases under two variants. */
const maxPages = 25;

export const noCases: Cases = new Map();

export function useCases(dataset: string): Cases {
  const loaded = useLoaded<Cases>(
    async (signal) => {
      const cases = new Map<string, KeptCase>();
      let after: string | null | undefined;
      for (let no = 0; no < maxPages && after !== null; no++) {
        const page: Page<Case> = await get('/v1/cases', { dataset, after, limit: pageOfCases }, signal);
        for (const one of page.data) cases.set(one.id, one);
        after = page.next_after;
      }
      return cases;
    },
    [dataset],
  );
  return loaded.data ?? noCases;
}
