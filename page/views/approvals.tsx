import { get, v1 } from '../api/client.ts';
import type { ApprovalPage, RunSnapshot } from '../api/types.ts';
import { Empty, Failure, Loading, Time } from '../parts/basics.tsx';
import { fullTime } from '../parts/format.ts';
import { Heading } from '../parts/heading.tsx';
import { href } from '../state/route.ts';
import { useLoaded } from '../state/use-loaded.ts';
import { Decision } from './run/decision.tsx';

const refreshMs = 3_000;

/** The inbox: every tool call that waits for a person. */
export function ApprovalsView() {
  const loaded = useLoaded<ApprovalPage>((signal) => get('/v1/approvals', { limit: 100 }, signal), [], {
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
          <Question threadId={call.thread_id} runId={call.run_id} />
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

/** What the customer wrote, and leads to the run that it has started. */
function Question({ threadId, runId }: { threadId: string; runId: string }) {
  const loaded = useLoaded<RunSnapshot>((signal) => get(v1('threads', threadId, 'runs', runId), {}, signal), []);
  return (
    <h2 class="question">
      <a href={href('threads', threadId, 'runs', runId)} class="row-link">
        {loaded.data?.question ?? '…'}
      </a>
    </h2>
  );
}
