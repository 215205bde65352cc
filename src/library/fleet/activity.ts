import type { Counting } from '../../models/counting/counting.ts';
import type { Database } from '../../postgres/pool.ts';
import { readActivity, type RecordedActivity } from '../../store/run/read-activity.ts';

/** The recent activity of the workers. */
export interface FleetActivity extends Omit<RecordedActivity, 'spent' | 'slots'> {
  /** Runs, their tokens and their cost, by the time slot in which the runs were accepted, oldest first. */
  slots: (RecordedActivity['slots'][number] & {
    /** In US dollars, by the list prices of the providers. */
    cost: number;
    /** Tokens of models whose price is unknown; `cost` excludes them. */
    unpricedTokens: number;
  })[];
}

/** Looks back over `hours`, in about a hundred slots. */
export async function activity(db: Database, counting: Counting, hours: number): Promise<FleetActivity> {
  const { spent, slots, ...recorded } = await readActivity(db, hours);
  const priced = new Map(slots.map((slot) => [slot.at.getTime(), { ...slot, cost: 0, unpricedTokens: 0 }]));
  for (const tokens of spent) {
    const slot = priced.get(tokens.at.getTime());
    if (!slot) continue;
    const price = await counting.priceOf(tokens.model, tokens, tokens.at);
    if (price === undefined) slot.unpricedTokens += tokens.inputTokens + tokens.outputTokens;
    else slot.cost += price;
  }
  return { ...recorded, slots: [...priced.values()] };
}
