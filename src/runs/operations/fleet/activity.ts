import type { Counting } from '../../../agent/models/counting.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import { readActivity } from '../../../database/store/run/read-activity.ts';
import type { FleetActivity } from '../../../database/store/worker/types.ts';
import { costOf } from '../runs/cost.ts';

/** Looks back over `hours`, in about a hundred slots. */
export async function activity(db: Database, counting: Counting, hours: number): Promise<FleetActivity> {
  const { spent, slots, ...recorded } = await readActivity(db.reader, hours);
  const bySlot = new Map<number, typeof spent>(slots.map((slot) => [slot.at.getTime(), []]));
  for (const tokens of spent) bySlot.get(tokens.at.getTime())?.push(tokens);
  const priced = slots.map(async (slot) => {
    const { cost, unpricedTokens } = await costOf(counting, bySlot.get(slot.at.getTime())!);
    return { ...slot, cost: cost ?? 0, unpricedTokens };
  });
  return { ...recorded, slots: await Promise.all(priced) };
}
