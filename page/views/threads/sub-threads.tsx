import type { ComponentChild } from 'preact';
import { get } from '../../api/client.ts';
import type { Page, ThreadSummary } from '../../api/types.ts';
import { Failure, Loading } from '../../parts/basics.tsx';
import { href } from '../../state/route.ts';
import { useLoaded } from '../../state/use-loaded.ts';

const most = 100;

/** The threads that the tool calls of a thread have created, as rows below its own. `columns` is the number of columns of the table. */
export function SubThreads({
  threadId,
  columns,
  children,
}: {
  threadId: string;
  columns: number;
  children: (child: ThreadSummary) => ComponentChild;
}) {
  const loaded = useLoaded<Page<ThreadSummary>>(
    (signal) => get('/v1/threads', { started_by: threadId, limit: most }, signal),
    [threadId],
  );
  const { data, error } = loaded;
  return (
    <>
      {data?.data.map(children)}
      {(!data || data.next_after !== null) && (
        <tr class="sub">
          <td colSpan={columns}>
            <Failure error={error} />
            {!data && !error && <Loading />}
            {data && <a href={href('threads', { started_by: threadId, children: 'true' })}>All of them</a>}
          </td>
        </tr>
      )}
    </>
  );
}
