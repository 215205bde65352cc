import type { EvalItem } from '../../api/types.ts';
import { route, setQuery } from '../../state/route.ts';
import { Contexts } from './contexts.tsx';
import { ItemCard } from './item-card.tsx';

/** The answers of all variants side by side, or those of the baseline and one variant with what each was sent. */
export function CaseAnswers({ items }: { items: EvalItem[] }) {
  const [baseline, ...others] = [...new Set(items.map(({ variant }) => variant))];
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
              <ItemCard key={item.no} item={item} />
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

function byRepeat(items: EvalItem[]): [number, EvalItem[]][] {
  const found = new Map<number, EvalItem[]>();
  for (const item of items) found.set(item.repeat, [...(found.get(item.repeat) ?? []), item]);
  return [...found].sort(([a], [b]) => a - b);
}
