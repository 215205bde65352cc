import type { RunTree } from '../../api/types.ts';
import { Status } from '../../parts/basics.tsx';
import { price, tokens } from '../../parts/format.ts';
import { href } from '../../state/route.ts';
import { Bar } from './bar.tsx';

const used = (of: Pick<RunTree, 'usage' | 'cost' | 'unpriced_tokens'>) => ` ${tokens(of.usage)} tokens, ${price(of)}`;

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
