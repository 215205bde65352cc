import type { JsonObject } from '../context/message.ts';

/**
 * Describes the context cut of a call in its event, for readers of the trace alone. `moved`: the policy leaves out
 * different messages than in the previous call, which ends what the provider has cached; `kept`: the same messages;
 * `lifted`: none any more.
 */
export function cutOf(refs: JsonObject | undefined): { cut?: 'moved' | 'kept' | 'lifted'; over_budget?: true } {
  const { dropped, dropped_positions: positions, kinds_cut: kinds, cut_moved: moved, over_budget: over } = refs ?? {};
  const cut = dropped || positions || kinds ? (moved ? 'moved' : 'kept') : moved ? 'lifted' : undefined;
  return { ...(cut ? { cut } : {}), ...(over ? { over_budget: true } : {}) };
}
