import type { ComponentChildren } from 'preact';
import type { EvalItem } from '../../api/types.ts';
import { Facts } from '../../parts/basics.tsx';
import { duration, price } from '../../parts/format.ts';
import { Text } from '../../parts/text.tsx';
import { href } from '../../state/route.ts';
import { failing, fails, scoreText, totalOf } from './words.ts';

interface ItemCardProps {
  item: EvalItem;
  /** Undefined: its run is gone, or not loaded. */
  model: string | undefined;
  evalId: string;
  baseline: string;
}

/** The answer of one variant, with its scores and their reasons; red if it does not pass. */
export const ItemCard = ({ item, model, evalId, baseline }: ItemCardProps) => (
  <section class={`entry ${edgeOf(item)}`} aria-label={`${item.variant}, repeat ${item.repeat}`}>
    <h3>
      {item.variant}{' '}
      {totalOf(item) !== null && (
        <span class={`status ${fails(item) ? 'bad' : 'good'}`}>{scoreText(totalOf(item))}</span>
      )}
    </h3>
    <Facts
      items={[
        ['Status', <span class={`status ${item.status === 'failed' ? 'bad' : 'idle'}`}>{item.status}</span>],
        ...item.scores.map(({ scorer, score, reason, error }): [string, ComponentChildren] => [
          scorer,
          <>
            <span class={failing(score) ? 'num bad' : 'num'}>{scoreText(score)}</span>
            {reason !== null && <span class="muted"> {reason}</span>}
            {error !== null && <span class="why">{error}</span>}
          </>,
        ]),
        ['Ended by', item.ended_by && <span class="bad">{item.ended_by}</span>],
        ['Model', model],
        ['Duration', item.duration_ms === null ? null : duration(item.duration_ms)],
        ['Cost', item.cost_micros === null ? null : price({ cost: item.cost_micros / 1e6, unpriced_tokens: 0 })],
        ['Agent', item.agent],
        [
          'Changed',
          item.variant === baseline ? null : (
            <a href={href('evals', evalId, 'variants', item.variant)}>what differs from {baseline}</a>
          ),
        ],
        ['Run', runLink(item.thread_id, item.run_id)],
        ['Judge', runLink(item.judge_thread_id, item.judge_run_id)],
        ['Reused', item.reused ? 'the answer is from an earlier eval' : null],
      ]}
    />
    {item.diverged !== null && <div class="notice">{item.diverged}</div>}
    {item.error !== null && <div class="failure">{item.error}</div>}
    {item.answer !== null && <Text text={item.answer} />}
  </section>
);

/** Red, green, or grey for what does not count. */
function edgeOf(item: EvalItem): string {
  if (fails(item)) return 'bad';
  return totalOf(item) === null ? 'tool' : 'assistant';
}

const runLink = (threadId: string | null, runId: string | null) =>
  threadId !== null && runId !== null ? <a href={href('threads', threadId, 'runs', runId)}>{runId}</a> : null;
