import { Fragment } from 'preact';
import { useSignal } from '@preact/signals';
import type { ListedRun } from '../api/types.ts';
import { Empty, Failure, Loading, RunStatusWords, Time } from '../parts/basics.tsx';
import { amount, duration, price, tokens } from '../parts/format.ts';
import { Heading, WaitingNotice } from '../parts/heading.tsx';
import { href, route } from '../state/route.ts';
import { useList } from '../state/use-loaded.ts';
import { MakeAlarmButton } from './alarms/alarm-dialogs.tsx';
import { BulkActions } from './bulk/bulk.tsx';
import { Facets, marksOfAll } from './lists/facets.tsx';
import { fields, valueOf } from './lists/fields.tsx';
import { FilterLine } from './lists/filter-line.tsx';
import { SubRuns, UnfoldButton } from './lists/sub-runs.tsx';
import { sought, type BuiltIn } from './lists/views-menu.tsx';
import { CountedMarks } from './marks/marks.tsx';

const filters = [
  fields.status,
  fields.mark,
  fields.waitingFor,
  fields.answered,
  fields.agent,
  fields.version,
  fields.model,
  fields.tenant,
  fields.metadata,
  fields.errorType,
  fields.since,
  fields.before,
  fields.minTokens,
  fields.children,
];
const views: BuiltIn[] = [
  ['All', {}],
  ['Failed', { status: 'failed' }],
  ['Needs approval', { waiting_for: 'approval' }],
  ['No answer', { answered: 'false' }],
  ...sought,
  ['Waits for a worker', { waiting_for: 'worker' }],
];
const refreshMs = 4_000;

/** The runs of all threads, newest first. */
export function RunsView() {
  const { query } = route.value;
  const filter = Object.fromEntries([
    ['text', query.get('text')] as const,
    ...filters.map((field) => [field.name, valueOf(query, field)] as const),
  ]);
  const { first, items: runs, after, more } = useList<ListedRun>('/v1/runs', filter, refreshMs);
  const everywhere = marksOfAll(runs);
  return (
    <section aria-labelledby="title">
      <div class="heading">
        <Heading title="Runs" />
      </div>
      <FilterLine view="runs" fields={filters} search="Search what users wrote" builtIn={views}>
        <BulkActions filter={filter} onDone={first.reload}>
          <MakeAlarmButton filter={filter} />
        </BulkActions>
      </FilterLine>
      <Facets view="runs" everywhere={everywhere} />
      <Failure error={first.error} />
      {!first.data && !first.error && <Loading />}
      {first.data && runs.length === 0 && !after && <Empty>No runs match.</Empty>}
      <WaitingNotice runs={runs.map(({ status, agent, start_at: startAt }) => [status, agent, startAt])} />
      {runs.length > 0 && <RunTable runs={runs} everywhere={everywhere} />}
      {after && (
        <button type="button" class="more" onClick={() => void more()}>
          {runs.length === 0 ? 'Search further back' : 'Show more'}
        </button>
      )}
    </section>
  );
}

const columns = ['Calls', 'Tokens', 'Cost', 'Duration', 'Accepted'];

const RunTable = ({ runs, everywhere }: { runs: ListedRun[]; everywhere: ReadonlySet<string> }) => (
  <table class="list">
    <thead>
      <tr>
        <th scope="col">Run</th>
        <th scope="col">Status</th>
        <th scope="col">Agent</th>
        {columns.map((title) => (
          <th key={title} scope="col" class="num">
            {title}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {runs.map((run) => (
        <RunRow key={`${run.thread_id}/${run.id}`} run={run} everywhere={everywhere} />
      ))}
    </tbody>
  </table>
);

function RunRow({ run, everywhere }: { run: ListedRun; everywhere: ReadonlySet<string> }) {
  const open = useSignal(false);
  const { children } = run;
  return (
    <Fragment>
      <tr>
        <th scope="row" class="row">
          <a href={href('threads', run.thread_id, 'runs', run.id)} class="row-link">
            <span class="preview">{run.question ?? `Run of ${run.agent}`}</span>
            <span class="id">{run.thread_id}</span>
          </a>
          {children > 0 && (
            <UnfoldButton count={children} open={open.value} onClick={() => (open.value = !open.value)} />
          )}
          <CountedMarks
            threadId={run.thread_id}
            marks={run.marks}
            known={['failed', 'waiting', run.answered === false && 'ended_early', ...everywhere]}
          />
        </th>
        <td>
          <RunStatusWords run={run} />
        </td>
        <td data-label="agent" class="clip" title={run.agent}>
          {run.agent}
          <span class="second clip" title={run.model}>
            {run.model}
          </span>
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
      {open.value && <SubRuns threadId={run.thread_id} runId={run.id} columns={3 + columns.length} />}
    </Fragment>
  );
}
