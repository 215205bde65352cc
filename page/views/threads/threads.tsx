import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { get } from '../../api/client.ts';
import type { Page, ThreadSummary } from '../../api/types.ts';
import { Empty, Failure, Loading } from '../../parts/basics.tsx';
import { route } from '../../state/route.ts';
import { useLoaded } from '../../state/use-loaded.ts';
import { AskDialog } from './ask-dialog.tsx';
import { Filters } from './filters.tsx';
import { ThreadTable } from './thread-table.tsx';

const names = ['text', 'status', 'agent', 'tenant_id', 'metadata', 'created_after'] as const;
const refreshMs = 4_000;

/** All threads, newest first, refreshed while the reader watches. */
export function ThreadsView() {
  const { query } = route.value;
  const filter = Object.fromEntries(names.map((name) => [name, query.get(name)]));
  const key = JSON.stringify(filter);
  const older = useSignal<ThreadSummary[]>([]);
  const next = useSignal<string | null | undefined>(undefined);
  const paused = useSignal(false);
  const first = useLoaded<Page<ThreadSummary>>((signal) => get('/v1/threads', filter, signal), [key], {
    everyMs: paused.value ? undefined : refreshMs,
  });
  useEffect(() => {
    older.value = [];
    next.value = undefined;
  }, [key]);
  const after = next.value === undefined ? first.data?.next_after : next.value;
  const more = async () => {
    const page = await get<Page<ThreadSummary>>('/v1/threads', { ...filter, after });
    older.value = [...older.value, ...page.data];
    next.value = page.next_after;
  };
  const fresh = first.data?.data ?? [];
  const known = new Set(fresh.map(({ id }) => id));
  const threads = [...fresh, ...older.value.filter(({ id }) => !known.has(id))];
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
