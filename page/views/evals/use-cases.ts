import { get } from '../../api/client.ts';
import type { Case, Page } from '../../api/types.ts';
import { useLoaded } from '../../state/use-loaded.ts';

const pageOfCases = 1_000;
/** An eval has at most 50,000 items, so at most 25,000 cases under two variants; of more than these, parts and questions are not shown. */
const mostPages = 10;

/** The beginning of its question, and the part of the dataset that it belongs to. */
export type KeptCase = Pick<Case, 'question' | 'split'>;

/** The cases of a dataset by their ids. */
export type Cases = ReadonlyMap<string, KeptCase>;

export const noCases: Cases = new Map();

export function useCases(dataset: string): Cases {
  const loaded = useLoaded<Cases>(
    async (signal) => {
      const cases = new Map<string, KeptCase>();
      let after: string | null | undefined;
      for (let no = 0; no < mostPages && after !== null; no++) {
        const page: Page<Case> = await get('/v1/cases', { dataset, after, limit: pageOfCases }, signal);
        for (const one of page.data) cases.set(one.id, one);
        after = page.next_after;
      }
      return cases;
    },
    [dataset],
  );
  return loaded.data ?? noCases;
}
