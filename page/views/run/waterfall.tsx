import type { Run, RunEvent } from '../../api/types.ts';
import { href } from '../../state/route.ts';
import { Bar } from './bar.tsx';
import { spansOf, type Span } from './spans.ts';

/** How a run spent its time. */
export function Waterfall({ run, events }: { run: Run; events: RunEvent[] }) {
  const { spans, total } = spansOf(run, events, Date.now());
  return (
    <ol class="waterfall plain" aria-label="What the run did, in order">
      {spans.map((span, index) => (
        <li key={index} class={['span', span.kind, span.open && 'open', span.bad && 'bad'].filter(Boolean).join(' ')}>
          <span class="span-title">
            <Title span={span} threadId={run.thread_id} />
            {span.note && <span class="muted"> {span.note}</span>}
          </span>
          <Bar start={span.start} end={span.end} total={total} />
        </li>
      ))}
    </ol>
  );
}

function Title({ span, threadId }: { span: Span; threadId: string }) {
  if (span.kind === 'model' && span.callId && span.seq !== undefined)
    return <a href={href('threads', threadId, 'calls', span.callId)}>{span.title}</a>;
  if (span.seq) return <a href={href('threads', threadId, { at: String(span.seq) })}>{span.title}</a>;
  return <>{span.title}</>;
}
