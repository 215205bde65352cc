import type { ChosenEvent, FoundAttempt } from '../store/begin-attempts.ts';
import type { OpenEndpoint, WaitingEvent } from '../store/due-deliveries.ts';

/** What a worker begins. */
export interface Chosen {
  due: FoundAttempt[];
  events: ChosenEvent[];
  /** Whether more is due than it can begin now. */
  moreDue: boolean;
  moreEvents: boolean;
  /** Endpoints for which more may be due than may be in flight. */
  behind: string[];
}

/**
 * Chooses which attempts begin: due ones take at most half of the slots as long as events want the rest, so that neither
 * keeps the other waiting. Of an endpoint, what is due goes first. An event is chosen with all its endpoints, and may thus
 * take more slots than there are.
 */
export function chooseAttempts(
  endpoints: readonly OpenEndpoint[],
  events: readonly WaitingEvent[],
  slots: number,
): Chosen {
  const free = new Map(
    endpoints.filter(({ failing }) => !failing).map(({ id, free: own, due }) => [id, own - due.length]),
  );
  const due = endpoints
    .flatMap(({ failing, due: own }) => own.map((one) => ({ ...one, failing })))
    .sort((a, b) => Number(a.failing) - Number(b.failing) || a.since - b.since);
  const first = Math.min(due.length, Math.ceil(slots / 2));
  const chosen: ChosenEvent[] = [];
  const behind = new Set(endpoints.filter(({ free: own, due: some }) => some.length === own).map(({ id }) => id));
  let left = slots - first;
  for (const event of events) {
    if (left <= 0) break;
    const begin = event.webhook_ids.filter((id) => (free.get(id) ?? 0) > 0);
    for (const id of begin) free.set(id, free.get(id)! - 1);
    for (const id of event.webhook_ids) if (free.get(id) === 0) behind.add(id);
    chosen.push({ ...event, begin });
    left -= begin.length;
  }
  const taken = first + Math.max(0, Math.min(left, due.length - first));
  return {
    due: due.slice(0, taken).map(({ thread_id, id, attempt, failing }) => ({ thread_id, id, attempt, failing })),
    events: chosen,
    moreDue: taken < due.length,
    moreEvents: chosen.length < events.length,
    behind: [...behind],
  };
}
