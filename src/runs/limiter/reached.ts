import type { JsonObject } from '../../agent/context/message.ts';
import type { EventDraft } from '../../agent/strategies/machine.ts';

interface Reached {
  reached: JsonObject[];
  exhausted?: JsonObject;
}

/** The events of the limits that a run has reached since its last step; `ends`: because of one. Forgets them. */
export function limitEvents(run: Reached, iteration: number, ends: boolean): EventDraft[] {
  const reached = run.reached.splice(0);
  if (ends && run.exhausted) reached.push({ ...run.exhausted, ends: true });
  return reached.map((data) => ({ kind: 'limit_reached', iteration, data }));
}
