import { get } from '../api/client.ts';
import type { Approval, Page } from '../api/types.ts';
import { Empty, Failure, Loading, Time } from '../parts/basics.tsx';
import { fullTime } from '../parts/format.ts';
import { Heading } from '../parts/heading.tsx';
import { href } from '../state/route.ts';
import { useLoaded } from '../state/use-loaded.ts';
import { Decision } from './run/decision.tsx';

const refreshMs = 3_000;

/** The inbox: every tool call that waits for a person. */
export function ApprovalsView() {
  const loaded = useLoaded<Page<Approval>>((signal) => get('/v1/approvals', { limit: 100 }, signal), [], {
    everyMs: refreshMs,
  });
  const calls = loaded.data?.data;
  return (
    <section aria-labelledby="title">
      <div class="heading">
        <Heading title="Approvals" />
      </div>
      <Failure error={loaded.error} />
      {!calls && !loaded.error && <Loading />}
      {calls?.length === 0 && <Empty>No tool call waits for approval.</Empty>}
      {calls?.map((call) => (
        <div key={`${call.run_id}/${call.round}.${call.index}`} class="card">
          <p class="muted">
            <a href={href('threads', call.thread_id, 'runs', call.run_id)}>{call.agent}</a> in{' '}
            <a href={href('threads', call.thread_id)}>{call.thread_id}</a>, requested <Time at={call.requested_at} />,
            denied automatically on {fullTime(call.expires_at)}
          </p>
          <Decision threadId={call.thread_id} runId={call.run_id} call={call} onDecided={loaded.reload} />
        </div>
      ))}
    </section>
  );
}
