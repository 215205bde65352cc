import { LanefoldError } from '../../../base/errors.ts';
import type { EvalItem } from '../item.ts';
import { countItem, type Counted } from './rule.ts';

/** An item that counts, with what it counts as. */
export interface CountedItem extends Counted {
  item: EvalItem;
}

/** The same case and repeat under both variants; `gain` is the candidate's score minus the baseline's. */
export interface Pair {
  baseline: CountedItem;
  candidate: CountedItem;
  gain: number;
  /** 1 if only the candidate passes, -1 if only the baseline does, else 0. */
  passGain: number;
}

export interface CasePairs {
  caseId: string;
  tags: string[];
  pairs: Pair[];
}

/**
 * The pairs of two variants, by case in the order of their ids, so that the order of the items does not matter.
 *
 * @throws LanefoldError `invalid_input` if two items have the same case, variant and repeat
 */
export function pairsByCase(
  items: readonly EvalItem[],
  baseline: string,
  candidate: string,
): { byCase: CasePairs[]; unpaired: number } {
  const before = countedItems(items, baseline);
  const after = countedItems(items, candidate);
  const byCase = new Map<string, CasePairs>();
  let paired = 0;
  for (const [key, first] of [...before].sort(([, a], [, b]) => a.item.repeat - b.item.repeat)) {
    const second = after.get(key);
    if (!second) continue;
    paired += 1;
    const { caseId, tags } = first.item;
    const found = byCase.get(caseId) ?? { caseId, tags: [...new Set(tags)].sort(), pairs: [] };
    byCase.set(caseId, found);
    found.pairs.push({
      ...{ baseline: first, candidate: second },
      gain: second.score - first.score,
      passGain: Number(second.passes) - Number(first.passes),
    });
  }
  return {
    byCase: [...byCase.values()].sort((a, b) => (a.caseId < b.caseId ? -1 : 1)),
    unpaired: before.size + after.size - 2 * paired,
  };
}

function countedItems(items: readonly EvalItem[], variant: string): Map<string, CountedItem> {
  const seen = new Set<string>();
  const counted = new Map<string, CountedItem>();
  for (const item of items) {
    if (item.variant !== variant) continue;
    const key = JSON.stringify([item.caseId, item.repeat]);
    if (seen.has(key))
      throw new LanefoldError(
        'invalid_input',
        `Case ${item.caseId} has two items of variant ${variant} with the repeat ${item.repeat}.`,
      );
    seen.add(key);
    const counts = countItem(item);
    if (counts) counted.set(key, { ...counts, item });
  }
  return counted;
}
