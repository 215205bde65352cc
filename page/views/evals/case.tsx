import type { ComponentChildren } from 'preact';
import { get, v1 } from '../../api/client.ts';
import type { Case, EvalItemList, EvalItem } from '../../api/types.ts';
import { Empty, Facts, Failure, Loading } from '../../parts/basics.tsx';
import { Heading } from '../../parts/heading.tsx';
import { JsonText, Text } from '../../parts/message.tsx';
import { href, route, setQuery } from '../../state/route.ts';
import { useLoaded } from '../../state/use-loaded.ts';
import { Contexts } from './contexts.tsx';
import { ItemCard, useModels } from '../answers/item-card.tsx';

/** An eval has at most 20 variants, each repeated at most 20 times. */
const maxItems = 400;

/** A case in an eval: what was expected, and the answers of all variants side by side. */
export function CaseView({ evalId, caseId }: { evalId: string; caseId: string }) {
  const variant = route.value.query.get('variant');
  const kept = useLoaded<Case>((signal) => get(v1('cases', caseId), {}, signal), []);
  const loaded = useLoaded<EvalItemList>(
    (signal) => get(v1('evals', evalId, 'items'), { case_id: caseId, limit: maxItems }, signal),
    [],
  );
  const items = loaded.data?.data;
  return (
    <article aria-labelledby="title">
      <div class="heading">
        <div>
          <p class="crumbs">
            <a href={href('evals')}>Evals</a> › <a href={href('evals', evalId)}>{evalId}</a>
            {variant && (
              <>
                {' '}
                › <a href={href('evals', evalId, 'variants', variant)}>{variant}</a>
              </>
            )}
          </p>
          <Heading title={kept.data?.question ?? 'Case'} id={caseId} />
        </div>
      </div>
      <Failure error={kept.error} />
      {kept.data && <Kept kept={kept.data} />}
      <Failure error={loaded.error} />
      {!items && !loaded.error && <Loading />}
      {items?.length === 0 && <Empty>This eval does not have the case.</Empty>}
      {items && items.length > 0 && <CaseAnswers evalId={evalId} items={items} />}
    </article>
  );
}

function Kept({ kept }: { kept: Case }) {
  const { expected } = kept;
  return (
    <>
      <Facts
        items={[
          ['Question', kept.question],
          ['Dataset', kept.dataset],
          ['Part', kept.split],
          ['Tags', kept.tags.length > 0 ? kept.tags.join(', ') : null],
          ['Note', kept.note],
          ['Original agent', kept.agent],
          ['Original model', kept.model],
          ...(kept.erased_at === null ? sourceOf(kept) : []),
        ]}
      />
      <section aria-labelledby="expected">
        <h2 id="expected">Expected</h2>
        {expected === null && (
          <Empty>
            {kept.erased_at === null
              ? 'Nothing: only your own scorers apply.'
              : 'The thread of the case was erased, and what was expected with it.'}
          </Empty>
        )}
        {expected && (
          <Facts
            items={[
              ['Answer', expected.answer === undefined ? null : <Text text={expected.answer} />],
              ['Contains', expected.contains ? <Text text={expected.contains.join('\n')} /> : null],
              ['Tool', expected.tool ? <JsonText value={expected.tool} /> : null],
              ['Rubric', expected.rubric === undefined ? null : <Text text={expected.rubric} />],
              ['Scorer', expected.scorer ?? null],
            ]}
          />
        )}
      </section>
    </>
  );
}

/** Links to where it came from: an imported case has a thread, and neither call nor run. */
function sourceOf({ thread_id: threadId, llm_call_id: call, run_id: run }: Case): [string, ComponentChildren][] {
  if (call === null || run === null) return [['Imported as', <a href={href('threads', threadId)}>{threadId}</a>]];
  return [
    ['Original call', <a href={href('threads', threadId, 'calls', call)}>{call}</a>],
    ['Original run', <a href={href('threads', threadId, 'runs', run)}>{run}</a>],
  ];
}

/** The answers of all variants side by side, or of the baseline and one variant with what each was sent. */
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

function byRepeat(items: EvalItem[]): [number, EvalItem[]][] {
  const found = new Map<number, EvalItem[]>();
  for (const item of items) found.set(item.repeat, [...(found.get(item.repeat) ?? []), item]);
  return [...found].sort(([a], [b]) => a - b);
}
