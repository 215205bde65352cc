import type { RunTree, Run, RunEvent } from '../../api/types.ts';
import { Status } from '../../parts/basics.tsx';
import { price, tokens, duration } from '../../parts/format.ts';
import { href } from '../../state/route.ts';
import { spansOf, type Span } from './spans.ts';

const used = (of: Pick<RunTree, 'usage' | 'cost' | 'unpriced_tokens'>) => ` ${tokens(of.usage)} tokens, ${price(of)}`;

/** Leads from a run to the call of another run that has started it. */
export function CalledBy({ tree, runId }: { tree: RunTree; runId: string }) {
  const parent = tree.runs.find(({ id }) => id === runId)?.parent;
  if (!parent) return null;
  const agent = tree.runs.find(({ id }) => id === parent.id)?.agent;
  return (
    <p class="muted">
      Called by a <a href={href('threads', parent.thread_id, 'runs', parent.id)}>run of {agent ?? 'another agent'}</a>,
      in its{' '}
      <a href={href('threads', parent.thread_id, 'calls', `${parent.id}.${parent.round}`)}>model call {parent.round}</a>
    </p>
  );
}

/** The tree of runs that a run belongs to: when each was there, its state, what it waits for and what it has used. */
export function Tree({ tree, runId }: { tree: RunTree; runId: string }) {
  const zero = Date.parse(tree.runs[0]!.created_at);
  const at = (time: string | null) => (time ? Date.parse(time) : Date.now()) - zero;
  const total = Math.max(...tree.runs.map((run) => at(run.finished_at)));
  return (
    <section aria-labelledby="tree">
      <h2 id="tree">Tree of runs</h2>
      <ol class="waterfall plain">
        {tree.runs.map((run) => (
          <li key={run.id} class={`span ${run.error ? 'bad' : run.finished_at ? 'tool' : 'model'}`}>
            <span style={{ paddingLeft: `${run.depth}rem` }}>
              <Status status={run.status} />{' '}
              {run.id === runId ? (
                <strong>{run.agent}</strong>
              ) : (
                <a href={href('threads', run.thread_id, 'runs', run.id)}>{run.agent}</a>
              )}{' '}
              <span class="muted">
                {run.waits.map(({ name, kind, event }) => `${name} waits for ${event ?? kind}`).join(', ')}
                {run.error && ` ${run.error.type}`}
                {run.usage && used(run)}
              </span>
            </span>
            <Bar start={at(run.created_at)} end={at(run.finished_at)} total={total} />
          </li>
        ))}
      </ol>
      <p class="muted">In all:{used(tree)}</p>
    </section>
  );
}

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

/** A bar on a line of `total` ms, and how long it is. */
export const Bar = ({ start, end, total }: { start: number; end: number; total: number }) => (
  <>
    <span class="span-track" aria-hidden="true">
      <span
        class="span-bar"
        style={{ left: `${(start / total) * 100}%`, width: `${((end - start) / total) * 100}%` }}
      />
    </span>
    <span class="span-time num">{end > start ? duration(end - start) : `at ${duration(start)}`}</span>
  </>
);
