import type { ComponentChildren } from 'preact';
import type { EvalItem } from '../../api/types.ts';
import { Facts } from '../../parts/basics.tsx';
import { duration, price } from '../../parts/format.ts';
import { Text } from '../../parts/text.tsx';
import { href } from '../../state/route.ts';
import { scoreText } from './words.ts';

/** The answer of one variant, with its scores and their reasons. */
export const ItemCard = ({ item }: { item: EvalItem }) => (
  <section class="entry assistant" aria-label={`${item.variant}, repeat ${item.repeat}`}>
    <h3>{item.variant}</h3>
    <Facts
      items={[
        ['Status', <span class={`status ${item.status === 'failed' ? 'bad' : 'idle'}`}>{item.status}</span>],
        ...item.scores.map(({ scorer, score, reason, error }): [string, ComponentChildren] => [
          scorer,
          <>
            <span class="num">{scoreText(score)}</span>
            {reason !== null && <span class="muted"> {reason}</span>}
            {error !== null && <span class="why">{error}</span>}
          </>,
        ]),
        ['Duration', item.duration_ms === null ? null : duration(item.duration_ms)],
        ['Cost', item.cost_micros === null ? null : price({ cost: item.cost_micros / 1e6, unpriced_tokens: 0 })],
        ['Agent', item.agent],
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

const runLink = (threadId: string | null, runId: string | null) =>
  threadId !== null && runId !== null ? <a href={href('threads', threadId, 'runs', runId)}>{runId}</a> : null;
