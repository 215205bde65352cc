import { useSignal } from '@preact/signals';
import type { ThreadSummary } from '../../api/types.ts';
import { Empty, Failure, Loading, Status, Time } from '../../parts/basics.tsx';
import { Heading, WaitingNotice } from '../../parts/heading.tsx';
import { route, href } from '../../state/route.ts';
import { useList } from '../../state/use-loaded.ts';
import { Filters } from './filters.tsx';
import { amount, price } from '../../parts/format.ts';
import { CountedMarks } from '../marks/marks.tsx';
import { post, v1 } from '../../api/client.ts';
import { AgentSelect } from '../../parts/filters.tsx';
import { DialogButton } from '../../parts/dialog.tsx';

const names = ['text', 'status', 'agent', 'tenant_id', 'metadata', 'created_after', 'created_before'] as const;
/** Filters for which the server cannot order threads by their latest question. */
const sought = ['text', 'status', 'metadata', 'created_after', 'created_before'];
const refreshMs = 4_000;

/** All threads, most recently updated first, refreshed automatically; search results are ordered by creation. */
export function ThreadsView() {
  const { query } = route.value;
  const order = sought.some((name) => query.get(name)) ? null : 'asked';
  const filter = Object.fromEntries([['order', order], ...names.map((name) => [name, query.get(name)] as const)]);
  const paused = useSignal(false);
  const { first, items, after, more } = useList<ThreadSummary>(
    '/v1/threads',
    filter,
    paused.value ? undefined : refreshMs,
  );
  // the server orders by the time of the latest question, not by the latest write of an active run
  const threads = order ? items.toSorted((a, b) => b.updated_at.localeCompare(a.updated_at)) : items;
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
      <Filters />
      <Failure error={first.error} />
      <WaitingNotice runs={threads.map(({ status, last_run: run }) => [status, run?.agent, run?.start_at])} />
      {threads.length > 0 && <ThreadTable threads={threads} />}
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

export const ThreadTable = ({ threads }: { threads: ThreadSummary[] }) => (
  <table class="list">
    <thead>
      <tr>
        <th scope="col">Thread</th>
        <th scope="col">Status</th>
        <th scope="col">Agent</th>
        <th scope="col" class="num">
          Entries
        </th>
        <th scope="col" class="num">
          Runs
        </th>
        <th scope="col" class="num">
          Tokens
        </th>
        <th scope="col" class="num">
          Cost
        </th>
        <th scope="col" class="num">
          Last write
        </th>
      </tr>
    </thead>
    <tbody>
      {threads.map((thread) => (
        <tr key={thread.id}>
          <th scope="row">
            <a href={href('threads', thread.id)} class="row-link">
              <span class="preview">{thread.last_message ?? 'No message yet'}</span>
              <span class="id">{thread.id}</span>
            </a>
          </th>
          <td>
            <Status status={thread.status} />
            {thread.last_run?.error_type && <span class="why">{thread.last_run.error_type}</span>}
            <CountedMarks threadId={thread.id} marks={thread.marks} known={[thread.status === 'failed' && 'failed']} />
          </td>
          <td data-label="agent" class="clip" title={thread.last_run?.agent}>
            {thread.last_run?.agent ?? '–'}
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
      ))}
    </tbody>
  </table>
);

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
