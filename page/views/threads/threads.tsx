import { useSignal } from '@preact/signals';
import type { ThreadSummary } from '../../api/types.ts';
import { Empty, Failure, Loading } from '../../parts/basics.tsx';
import { route } from '../../state/route.ts';
import { useList } from '../../state/use-list.ts';
import { AskDialog } from './ask-dialog.tsx';
import { Filters } from './filters.tsx';
import { ThreadTable } from './thread-table.tsx';

const names = ['text', 'status', 'agent', 'tenant_id', 'metadata', 'created_after', 'created_before'] as const;
const refreshMs = 4_000;

/** All threads, newest first, refreshed while the reader watches. */
export function ThreadsView() {
  const { query } = route.value;
  const filter = Object.fromEntries(names.map((name) => [name, query.get(name)]));
  const paused = useSignal(false);
  const {
    first,
    items: threads,
    after,
    more,
  } = useList<ThreadSummary>('/v1/threads', filter, paused.value ? undefined : refreshMs);
  return (
    <section aria-labelledby="title">
      <div class="heading">
        <h1 id="title">Threads</h1>
        <div class="actions">
          <button type="button" aria-pressed={paused.value} onClick={() => (paused.value = !paused.value)}>
            {paused.value ? 'Resume' : 'Pause'}
          </button>
          <AskDialog />
        </div>
      </div>
      <Filters />
      <Failure error={first.error} />
      {threads.length > 0 && <ThreadTable threads={threads} />}
      {first.data && threads.length === 0 && !after && <Empty>No thread matches. New threads appear here.</Empty>}
      {!first.data && !first.error && <Loading />}
      {after && (
        <button type="button" class="more" onClick={() => void more()}>
          {threads.length === 0 ? 'Search further back' : 'Show more'}
        </button>
      )}
    </section>
  );
}
