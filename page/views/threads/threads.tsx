import { useSignal } from '@preact/signals';
import type { ThreadSummary } from '../../api/types.ts';
import { Empty, Failure, Loading } from '../../parts/basics.tsx';
import { Heading } from '../../parts/heading.tsx';
import { WaitingNotice } from '../../parts/waiting-notice.tsx';
import { route } from '../../state/route.ts';
import { useList } from '../../state/use-list.ts';
import { AskDialog } from './ask-dialog.tsx';
import { Filters } from './filters.tsx';
import { ThreadTable } from './thread-table.tsx';

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
