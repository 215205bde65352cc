import { get } from '../../api/client.ts';
import type { Case, Page } from '../../api/types.ts';
import { useLoaded } from '../../state/use-loaded.ts';
import type { Cases, KeptCase } from './kept-cases.ts';

const pageOfCases = 1_000;
/** An eval has at most 50,000 items, so at most 25,000 cases under two variants. */
const mostPages = 25;

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
