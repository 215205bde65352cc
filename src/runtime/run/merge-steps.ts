import type { StepDraft } from '../../strategies/machine.ts';

const mergeable = new Set(['entries', 'events', 'nodes']);

/** Whether a step only adds rows, so that the next step can be merged into it. */
export const onlyAdds = (step: StepDraft): boolean => Object.keys(step).every((key) => mergeable.has(key));

/** One step that writes what both would have written, in order. `first` must only add rows. */
export function mergeSteps(first: StepDraft | undefined, second: StepDraft | undefined): StepDraft | undefined {
  if (!first || !second) return first ?? second;
  const { entries = [], events = [], nodes = [] } = first;
  const { callsAt, finish } = second;
  const shift = entries.length;
  const shifted = <Event extends { entry?: number }>(drafts: readonly Event[] = []): Event[] =>
    drafts.map((event) => (event.entry === undefined ? event : { ...event, entry: event.entry + shift }));
  return {
    ...second,
    ...present('entries', [...entries, ...(second.entries ?? [])]),
    ...present('events', [...events, ...shifted(second.events)]),
    ...present('nodes', [...nodes, ...(second.nodes ?? [])]),
    ...(second.thenEvents ? { thenEvents: shifted(second.thenEvents) } : {}),
    ...(second.calls ? { callsAt: (callsAt ?? 0) + shift } : {}),
    ...(finish?.events ? { finish: { ...finish, events: shifted(finish.events) } } : {}),
  };
}

const present = <Key extends 'entries' | 'events' | 'nodes'>(key: Key, drafts: NonNullable<StepDraft[Key]>) =>
  drafts.length > 0 ? { [key]: drafts } : {};
