import type { RunTree } from '../../api/types.ts';
import { Status } from '../../parts/basics.tsx';
import { number, price } from '../../parts/format.ts';
import { href } from '../../state/route.ts';

const deepest = 16;

/** The tree of runs that a run belongs to, each with its state, what it waits for and what it has used. */
export const Tree = ({ tree, runId }: { tree: RunTree; runId: string }) => (
  <section aria-labelledby="tree">
    <h2 id="tree">Tree of runs</h2>
    <ol class="tree plain">
      {tree.runs.map((run) => (
        <li key={run.id} style={{ paddingLeft: `${Math.min(run.depth, deepest)}rem` }}>
          <Status status={run.status} />{' '}
          {run.id === runId ? (
            <strong>{run.agent}</strong>
          ) : (
            <a href={href('threads', run.thread_id, 'runs', run.id)}>{run.agent}</a>
          )}{' '}
          <span class="muted">
            {run.waits.map(({ name, kind, event }) => `${name} waits for ${event ?? kind}`).join(', ')}
            {run.error && ` ${run.error.type}`}
          </span>{' '}
          {run.usage && <span class="num">{number(run.usage.total_tokens)} tokens</span>}{' '}
          {run.usage && <span class="num">{price(run)}</span>}
        </li>
      ))}
    </ol>
    <p class="muted">
      In all: {number(tree.usage?.total_tokens ?? 0)} tokens, {price(tree)}
    </p>
  </section>
);
