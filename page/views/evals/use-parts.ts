import { get } from '../../api/client.ts';
import type { Case, Page } from '../../api/types.ts';
import { useLoaded } from '../../state/use-loaded.ts';

const pageOfCases = 1_000;
/** An eval has at most 50,000 items, so at most 25,000 cases under two variants; which these are. */
const mostPages = 25;

/** The part of the dataset (`split`) that each case belongs to, by its id; cases without one are absent. */
export type Parts = ReadonlyMap<string, string>;

export function useParts(dataset: string): Parts {
  const loaded = useLoaded<Parts>(
    async (signal) => {
      const parts = new Map<string, string>();
      let after: string | null | undefined;
      for (let no = 0; no < mostPages && after !== null; no++) {
        const page: Page<Case> = await get('/v1/cases', { dataset, after, limit: pageOfCases }, signal);
        for (const { id, split } of page.data) if (split !== null) parts.set(id, split);
        after = page.next_after;
      }
      return parts;
    },
    [dataset],
  );
  return loaded.data ?? new Map();
}
