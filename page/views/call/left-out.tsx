import type { ModelCall } from '../../api/types.ts';
import { href } from '../../state/route.ts';

type Range = [from: number, to: number, first?: number, last?: number];

/** The messages that the context policy left out, as the worker recorded them with the answer. */
export function LeftOut({ call: { thread_id: threadId, refs } }: { call: ModelCall }) {
  const dropped = (refs['dropped'] ?? []) as Range[];
  const kinds = refs['kinds'] as string[] | undefined;
  const overBudget = refs['over_budget'] === true;
  if (dropped.length === 0 && !kinds && !overBudget) return null;
  return (
    <div class="notice">
      {dropped.length > 0 && (
        <>
          The policy left out{' '}
          {dropped.map(([from, to, first, last], index) => (
            <>
              {index > 0 && ', '}
              <a href={href('threads', threadId, { at: String(to) })}>
                {from === to ? `entry #${from}` : `entries #${from} to #${to}`}
              </a>
              {first !== undefined && ` (its messages ${first + 1} to ${last! + 1})`}
            </>
          ))}
          .{' '}
        </>
      )}
      {kinds && `It sends only ${kinds.map((kind) => kind.replaceAll('_', ' ')).join(', ') || 'the prompt'}. `}
      {overBudget && 'The messages it must keep exceed the budget.'}
    </div>
  );
}
