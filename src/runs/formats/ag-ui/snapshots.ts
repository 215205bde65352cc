import type { AgUiEvent } from './event.ts';
import type { AgUiMessage } from './message.ts';

type Snapshot = Extract<AgUiEvent, { type: 'MESSAGES_SNAPSHOT' }>;

/**
 * The snapshots after which a client has these messages in this order. A client merges a snapshot with what it has: it
 * drops what the snapshot lacks, leaves the rest in its own order, and appends what is new. If that would be another
 * order, a first snapshot has only the beginning that the client has in the right order.
 *
 * @param had by the client, in its order
 */
export function* snapshots(messages: readonly AgUiMessage[], had: readonly AgUiMessage[]): Generator<Snapshot> {
  const ids = new Set(messages.map(({ id }) => id));
  const kept = had.filter(({ id }) => ids.has(id));
  const wrong = kept.findIndex(({ id }, at) => id !== messages[at]?.id);
  if (wrong < 0) yield toSnapshot(messages);
  else yield* snapshotsAfter(messages.slice(0, wrong), messages);
}

/** As `snapshots`, whatever the client has behind the first messages. */
export function* snapshotsAfter(first: readonly AgUiMessage[], messages: readonly AgUiMessage[]): Generator<Snapshot> {
  const keepsReasoning = reasons(messages) && !reasons(first);
  yield toSnapshot(keepsReasoning ? [...first, otherReasoning] : first);
  yield toSnapshot(messages);
}

/** Clients keep all their reasoning if a snapshot has none. */
const reasons = (messages: readonly AgUiMessage[]): boolean => messages.some(({ role }) => role === 'reasoning');
const otherReasoning: AgUiMessage = { id: 'lanefold.other-reasoning', role: 'reasoning', content: '' };

const toSnapshot = (messages: readonly AgUiMessage[]): Snapshot => ({
  ...{ type: 'MESSAGES_SNAPSHOT', messages: [...messages] },
});
