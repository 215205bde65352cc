import type { EvalItem, RunSnapshot } from '../../api/types.ts';
import { get, v1 } from '../../api/client.ts';
import { route, setQuery } from '../../state/route.ts';
import { useLoaded } from '../../state/use-loaded.ts';
import { Contexts } from './contexts.tsx';
import { ItemCard } from './item-card.tsx';

/** The answers of all variants side by side, or those of the baseline and one variant with what each was sent. */
export function CaseAnswers({ evalId, items }: { evalId: string; items: EvalItem[] }) {
  const [baseline, ...others] = [...new Set(items.map(({ variant }) => variant))];
  const models = useModels(items);
  const asked = route.value.query.get('variant');
  const chosen = others.find((variant) => variant === asked) ?? (others.length === 1 ? others[0] : undefined);
  const shown = chosen === undefined ? items : items.filter(({ variant }) => [baseline, chosen].includes(variant));
  return (
    <>
      {others.length > 1 && (
        <div class="actions">
          <label class="inline">
            <span>Compare {baseline} with</span>
            <select
              value={chosen ?? ''}
              onChange={(event) => setQuery({ variant: event.currentTarget.value || undefined })}
            >
              <option value="">all variants</option>
              {others.map((variant) => (
                <option key={variant}>{variant}</option>
              ))}
            </select>
          </label>
        </div>
      )}
      {byRepeat(shown).map(([repeat, answers]) => (
        <section key={repeat} aria-labelledby={`repeat-${repeat}`}>
          <h2 id={`repeat-${repeat}`}>{repeat === 1 ? 'Answers' : `Answers, repeat ${repeat}`}</h2>
          <div class="answers">
            {answers.map((item) => (
              <ItemCard
                key={item.no}
                item={item}
                model={models.get(item.variant)}
                evalId={evalId}
                baseline={baseline!}
              />
            ))}
          </div>
          {chosen !== undefined && repeat === 1 && answers.length === 2 && (
            <>
              <h2 id="sent">What was sent for these answers</h2>
              <Contexts key={chosen} items={answers as [EvalItem, EvalItem]} />
            </>
          )}
        </section>
      ))}
    </>
  );
}

/** The model that answered under each variant, as far as the runs of the first repeat are there. */
function useModels(items: EvalItem[]): ReadonlyMap<string, string> {
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

function byRepeat(items: EvalItem[]): [number, EvalItem[]][] {
  const found = new Map<number, EvalItem[]>();
  for (const item of items) found.set(item.repeat, [...(found.get(item.repeat) ?? []), item]);
  return [...found].sort(([a], [b]) => a - b);
}
