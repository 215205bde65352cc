import { useSignal } from '@preact/signals';
import type { MarkCount, RunCounts } from '../../api/types.ts';
import { amount } from '../../parts/format.ts';
import { href, route } from '../../state/route.ts';
import { useLoaded } from '../../state/use-loaded.ts';
import { icons, kinds } from '../marks/marks.tsx';
import { Time } from '../../parts/basics.tsx';
import { countsOf } from './counts.ts';

const refreshMs = 30_000;

/**
 * How many runs have which mark, to filter by with one click, and the marks that all rows have. The line has its height
 * from the beginning, so that the rows below it do not move.
 */
export function Facets({ view, everywhere }: { view: 'threads' | 'runs'; everywhere: ReadonlySet<string> }) {
  const { query } = route.value;
  const mark = query.get('mark');
  const others = new URLSearchParams([...query].filter(([name]) => name !== 'mark')).toString();
  const loaded = useLoaded<RunCounts | undefined>((signal) => countsOf('mark', signal), [others], {
    everyMs: refreshMs,
  });
  const all = useSignal(false);
  const counts = loaded.data;
  const found = counts?.marks.toSorted((a, b) => rank(a.mark) - rank(b.mark));
  // what is only information waits behind a button
  const marks = found?.filter(({ mark: kind }) => all.value || kind === mark || rank(kind) < information);
  const more = (found?.length ?? 0) - (marks?.length ?? 0);
  return (
    <div class={all.value ? 'facets all' : 'facets'}>
      {found && found.length > 0 && (
        <span class="muted">
          {counts!.since ? (
            <>
              Marked since <Time at={counts!.since} />:
            </>
          ) : (
            'Marked:'
          )}
        </span>
      )}
      {marks?.map(({ mark: kind, runs }) => {
        const [tone, one] = kinds[kind] ?? ['note', kind];
        const chosen = kind === mark;
        const next = { ...Object.fromEntries(query), mark: chosen ? undefined : kind };
        return (
          <a
            key={kind}
            href={href(view, next as Record<string, string>)}
            class={`tag badge ${tone}`}
            aria-current={chosen ? 'true' : undefined}
          >
            <span aria-hidden="true">{icons[tone]}</span> {one} {runs === 0 ? 'earlier' : amount(runs)}
          </a>
        );
      })}
      {(more > 0 || all.value) && (
        <button type="button" class="link small" aria-expanded={all.value} onClick={() => (all.value = !all.value)}>
          {all.value ? 'Fewer' : `${more} more`}
        </button>
      )}
      {[...everywhere].map((kind) => (
        <span key={kind} class="muted">
          Nearly all rows: {kinds[kind]?.[1] ?? kind}
        </span>
      ))}
    </div>
  );
}

const tones = ['bad', 'warn', 'note'];
const information = tones.indexOf('note');
/** Failures first, information last. */
const rank = (kind: string): number => tones.indexOf(kinds[kind]?.[0] ?? 'note');

const fewRows = 6;
const nearlyAll = 0.9;

/** The kinds of mark that nearly all rows have: those tell nothing of a row, but the mark of the filter leads to its place. */
export function marksOfAll(rows: { marks?: MarkCount[] | null }[]): ReadonlySet<string> {
  const rowsWith = new Map<string, number>();
  for (const { marks } of rows) for (const { kind } of marks ?? []) rowsWith.set(kind, (rowsWith.get(kind) ?? 0) + 1);
  const most = [...rowsWith].filter(([, count]) => count >= nearlyAll * rows.length);
  const filter = route.value.query.get('mark');
  return new Set(rows.length < fewRows ? [] : most.map(([kind]) => kind).filter((kind) => kind !== filter));
}
