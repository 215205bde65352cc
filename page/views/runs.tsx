import type { ListedRun } from '../api/types.ts';
import { Empty, Failure, Loading, Status, Time } from '../parts/basics.tsx';
import { amount, duration, price, tokens } from '../parts/format.ts';
import { FilterForm, TimeFilter } from '../parts/filters.tsx';
import { Heading, WaitingNotice } from '../parts/heading.tsx';
import { href, route, setQuery } from '../state/route.ts';
import { useList } from '../state/use-loaded.ts';
import { CountedMarks } from './marks/marks.tsx';

const names = ['status', 'agent', 'model', 'error_type', 'min_tokens'] as const;
const times = ['created_after', 'created_before'];
const titles = { status: 'Status', agent: 'Agent', model: 'Model', error_type: 'Error', min_tokens: 'Minimum tokens' };
const refreshMs = 4_000;

/** The runs of all threads, newest first. */
export function RunsView() {
  const { query } = route.value;
  const filter = Object.fromEntries([...names, ...times].map((name) => [name, query.get(name)] as const));
  const { first, items: runs, after, more } = useList<ListedRun>('/v1/runs', filter, refreshMs);
  return (
    <section aria-labelledby="title">
      <div class="heading">
        <Heading title="Runs" />
      </div>
      <FilterForm names={[...names, ...times]}>
        {names.map((name) => (
          <label key={name}>
            <span>{titles[name]}</span>
            <input
              value={query.get(name) ?? ''}
              onChange={(event) => setQuery({ [name]: event.currentTarget.value.trim() || undefined })}
            />
          </label>
        ))}
        <TimeFilter />
      </FilterForm>
      <Failure error={first.error} />
      {!first.data && !first.error && <Loading />}
      {first.data && runs.length === 0 && !after && <Empty>No runs match.</Empty>}
      <WaitingNotice runs={runs.map(({ status, agent, start_at: startAt }) => [status, agent, startAt])} />
      {runs.length > 0 && <RunTable runs={runs} />}
      {after && (
        <button type="button" class="more" onClick={() => void more()}>
          {runs.length === 0 ? 'Search further back' : 'Show more'}
        </button>
      )}
    </section>
  );
}

const RunTable = ({ runs }: { runs: ListedRun[] }) => (
  <table class="list">
    <thead>
      <tr>
        <th scope="col">Run</th>
        <th scope="col">Status</th>
        <th scope="col">Agent</th>
        <th scope="col">Model</th>
        <th scope="col" class="num">
          Calls
        </th>
        <th scope="col" class="num">
          Tokens
        </th>
        <th scope="col" class="num">
          Cost
        </th>
        <th scope="col" class="num">
          Duration
        </th>
        <th scope="col" class="num">
          Accepted
        </th>
      </tr>
    </thead>
    <tbody>
      {runs.map((run) => (
        <tr key={`${run.thread_id}/${run.id}`}>
          <th scope="row">
            <a href={href('threads', run.thread_id, 'runs', run.id)} class="row-link">
              <span class="preview">{run.question ?? `Run of ${run.agent}`}</span>
              <span class="id">{run.thread_id}</span>
            </a>
          </th>
          <td>
            <Status status={run.status} />
            {run.error && run.status === 'failed' && <span class="why">{run.error.type}</span>}
            <CountedMarks threadId={run.thread_id} marks={run.marks} known={['failed', 'waiting']} />
          </td>
          <td data-label="agent" class="clip" title={run.agent}>
            {run.agent}
          </td>
          <td data-label="model" class="clip" title={run.model}>
            {run.model}
          </td>
          <td data-label="calls" class="num">
            {run.iteration}
          </td>
          <td data-label="tokens" class="num">
            {tokens(run.usage, amount)}
          </td>
          <td data-label="cost" class="num">
            {price(run)}
          </td>
          <td data-label="duration" class="num">
            {run.duration_ms === null ? '–' : duration(run.duration_ms)}
          </td>
          <td class="num">
            <Time at={run.created_at} />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);
