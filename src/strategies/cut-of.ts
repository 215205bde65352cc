import type { JsonObject } from '../context/message.ts';

/**
 * What an event about an answer says of the cut of its call, for those who read no log. `moved`: the policy leaves out other
 * messages than in the call before, and with them what the provider had cached; `kept`: the same; `lifted`: none any more.
 */
export function cutOf(refs: JsonObject | undefined): { cut?: 'moved' | 'kept' | 'lifted'; over_budget?: true } {
  const { dropped, dropped_positions: positions, kinds_cut: kinds, cut_moved: moved, over_budget: over } = refs ?? {};
  const cut = dropped || positions || kinds ? (moved ? 'moved' : 'kept') : moved ? 'lifted' : undefined;
  return { ...(cut ? { cut } : {}), ...(over ? { over_budget: true } : {}) };
}
