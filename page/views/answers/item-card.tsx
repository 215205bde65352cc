import type { ComponentChildren } from 'preact';
import { get, v1 } from '../../api/client.ts';
import type { EvalItem, RunSnapshot } from '../../api/types.ts';
import { Facts } from '../../parts/basics.tsx';
import { duration, number, price } from '../../parts/format.ts';
import { Text } from '../../parts/message.tsx';
import { href } from '../../state/route.ts';
import { useLoaded } from '../../state/use-loaded.ts';
import { failing, fails, scoreText, totalOf } from './scores.ts';

interface ItemCardProps {
  item: EvalItem;
  /** Undefined: its run is gone, or not loaded. */
  model: string | undefined;
  evalId: string;
  baseline: string;
  children?: ComponentChildren;
}

/** The answer of one variant, with its scores and their reasons; red if it does not pass. */
export const ItemCard = ({ item, model, evalId, baseline, children }: ItemCardProps) => (
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
        ['Input', item.input_tokens === null ? null : <span class="num">{number(item.input_tokens)} tokens</span>],
        ['Output', item.output_tokens === null ? null : <span class="num">{number(item.output_tokens)} tokens</span>],
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
    {children}
  </section>
);

/** Red, green, or grey for what does not count. */
function edgeOf(item: EvalItem): string {
  if (fails(item)) return 'bad';
  return totalOf(item) === null ? 'tool' : 'assistant';
}

const runLink = (threadId: string | null, runId: string | null) =>
  threadId !== null && runId !== null ? <a href={href('threads', threadId, 'runs', runId)}>{runId}</a> : null;

/** The model that answered under each variant, as far as the runs of the first repeat are there. */
export function useModels(items: EvalItem[]): ReadonlyMap<string, string> {
  const first = items.filter(({ repeat }) => repeat === 1);
  const loaded = useLoaded(
    async (signal) => {
      const models = new Map<string, string>();
      const read = async ({ variant, thread_id: threadId, run_id: runId }: EvalItem) => {
        if (threadId === null || runId === null) return;
        const { model } = await get<RunSnapshot>(v1('threads', threadId, 'runs', runId), {}, signal);
        models.set(variant, model);
      };
      await Promise.allSettled(first.map(read));
      return models;
    },
    [first.map(({ run_id: id }) => id).join()],
  );
  return loaded.data ?? new Map();
}
