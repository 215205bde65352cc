import { Fragment } from 'preact';
import { useSignal } from '@preact/signals';
import type { ThreadSummary } from '../../api/types.ts';
import { Empty, Failure, Loading, Status, Time } from '../../parts/basics.tsx';
import { Heading, WaitingNotice } from '../../parts/heading.tsx';
import { route, href } from '../../state/route.ts';
import { useList } from '../../state/use-loaded.ts';
import { Facets, marksOfAll } from '../lists/facets.tsx';
import { fields, valueOf } from '../lists/fields.tsx';
import { FilterLine } from '../lists/filter-line.tsx';
import { UnfoldButton } from '../lists/sub-runs.tsx';
import { sought, type BuiltIn } from '../lists/views-menu.tsx';
import { amount, price } from '../../parts/format.ts';
import { SubThreads } from './sub-threads.tsx';
import { CountedMarks } from '../marks/marks.tsx';
import { post, v1 } from '../../api/client.ts';
import { AgentSelect } from '../../parts/agent-select.tsx';
import { DialogButton } from '../../parts/dialog.tsx';

const filters = [
  fields.status,
  fields.mark,
  fields.waitingFor,
  fields.agent,
  fields.version,
  fields.tenant,
  fields.metadata,
  fields.since,
  fields.before,
  fields.startedBy,
  fields.children,
];
const views: BuiltIn[] = [
  ['All', {}],
  ['Failed', { status: 'failed' }],
  ['Needs approval', { status: 'suspended' }],
  ['No answer', { mark: 'ended_early' }],
  ...sought,
];
/** Filters with which the server can order threads by their latest question. */
const ordered = ['agent', 'tenant_id', 'children'];
const refreshMs = 4_000;

/** All threads, most recently updated first, refreshed automatically; search results are ordered by creation. */
export function ThreadsView() {
  const { query } = route.value;
  const names = ['text', ...filters.map(({ name }) => name)];
  const order = names.some((name) => query.get(name) && !ordered.includes(name)) ? null : 'asked';
  const filter = Object.fromEntries([
    ['order', order],
    ['text', query.get('text')],
    ...filters.map((field) => [field.name, valueOf(query, field)] as const),
  ]);
  const paused = useSignal(false);
  const { first, items, after, more } = useList<ThreadSummary>(
    '/v1/threads',
    filter,
    paused.value ? undefined : refreshMs,
  );
  // the server orders by the time of the latest question, not by the latest write of an active run
  const threads = order ? items.toSorted((a, b) => b.updated_at.localeCompare(a.updated_at)) : items;
  const everywhere = marksOfAll(threads);
  return (
    <section aria-labelledby="title">
      <div class="heading">
        <Heading title="Threads" />
        <div class="actions">
          <button type="button" aria-pressed={paused.value} onClick={() => (paused.value = !paused.value)}>
            {paused.value ? 'Resume' : 'Pause'}
          </button>
          <AskDialog />
        </div>
      </div>
      <FilterLine view="threads" fields={filters} search="Search what users wrote" builtIn={views} />
      <Facets view="threads" everywhere={everywhere} />
      <Failure error={first.error} />
      <WaitingNotice runs={threads.map(({ status, last_run: run }) => [status, run?.agent, run?.start_at])} />
      {threads.length > 0 && <ThreadTable threads={threads} everywhere={everywhere} />}
      {first.data && threads.length === 0 && !after && <Empty>No threads match. New threads appear here.</Empty>}
      {!first.data && !first.error && <Loading />}
      {after && (
        <button type="button" class="more" onClick={() => void more()}>
          {threads.length === 0 ? 'Search further back' : 'Show more'}
        </button>
      )}
    </section>
  );
}

const columns = ['Entries', 'Runs', 'Tokens', 'Cost', 'Last write'];

const ThreadTable = ({ threads, everywhere }: { threads: ThreadSummary[]; everywhere: ReadonlySet<string> }) => (
  <table class="list">
    <thead>
      <tr>
        <th scope="col">Thread</th>
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
      {threads.map((thread) => (
        <ThreadRow key={thread.id} thread={thread} everywhere={everywhere} />
      ))}
    </tbody>
  </table>
);

interface RowProps {
  thread: ThreadSummary;
  everywhere: ReadonlySet<string>;
  /** It is a child of a thread above it. */
  sub?: boolean;
}

/** A thread, and below it the threads that its tool calls have created, folded. */
function ThreadRow({ thread, everywhere, sub = false }: RowProps) {
  const open = useSignal(false);
  const { children } = thread;
  const last = thread.last_run;
  const noAnswer = thread.status === 'completed' && last?.answered === false;
  const known = [thread.status === 'failed' && 'failed', noAnswer && thread.runs === 1 && 'ended_early', ...everywhere];
  return (
    <Fragment>
      <tr class={sub ? 'sub' : ''}>
        <th scope="row" class="row">
          <a href={href('threads', thread.id)} class="row-link">
            <span class="preview">{thread.last_message ?? (last ? `Run of ${last.agent}` : 'No message yet')}</span>
            <span class="id">{thread.id}</span>
          </a>
          {children > 0 && (
            <UnfoldButton
              what="sub-thread"
              count={children}
              open={open.value}
              onClick={() => (open.value = !open.value)}
            />
          )}
          <CountedMarks threadId={thread.id} marks={thread.marks} known={known} />
        </th>
        <td>
          <Status status={thread.status} answered={last?.answered} />
          {last?.error_type && <span class="why">{last.error_type}</span>}
          {noAnswer && last.termination_reason && (
            <span class="why muted">{last.termination_reason.replaceAll('_', ' ')}</span>
          )}
        </td>
        <td data-label="agent" class="clip" title={last?.agent}>
          {last?.agent ?? '–'}
        </td>
        <td data-label="entries" class="num">
          {amount(thread.rev)}
        </td>
        <td data-label="runs" class="num">
          {thread.runs >= 1_000 ? '1,000+' : thread.runs}
        </td>
        <td data-label="tokens" class="num">
          {amount(thread.total_tokens)}
        </td>
        <td data-label="cost" class="num">
          {price(thread)}
        </td>
        <td class="num">
          <Time at={thread.updated_at} />
        </td>
      </tr>
      {open.value && (
        <SubThreads threadId={thread.id} columns={3 + columns.length}>
          {(child) => <ThreadRow key={child.id} thread={child} everywhere={everywhere} sub />}
        </SubThreads>
      )}
    </Fragment>
  );
}

/** Starts a new thread with a question. */
export const AskDialog = () => (
  <DialogButton
    title="Ask an agent"
    button="New thread"
    submit="Ask"
    kind="primary"
    onSubmit={async (fields) => {
      const { id } = await post<{ id: string }>('/v1/threads');
      await post(v1('threads', id, 'runs'), { agent: fields.get('agent'), input: fields.get('input') });
      location.hash = href('threads', id);
    }}
  >
    <AgentSelect />
    <label>
      <span>Question</span>
      <textarea name="input" rows={4} required />
    </label>
  </DialogButton>
);
