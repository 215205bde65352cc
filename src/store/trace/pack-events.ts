import type { Json } from '../../context/message.ts';
import type { EventDraft } from '../../strategies/machine.ts';

/** An event as it is stored; the view `run_event` unpacks it. `c` is the number of a model call of the run, `r` why a checkpoint is one. */
export type StoredEvent = EventDraft & { c?: number; m?: number; r?: Json };

/**
 * The stored form of events: what the row of the batch or of the run says anyway is left out of each of them, because
 * the trace is the largest thing we keep beside the log. `messages`: how many the context of a call has.
 */
export const packEvents = (
  runId: string,
  events: readonly EventDraft[] | undefined,
  messages?: number,
): StoredEvent[] | undefined =>
  events?.map(({ d, ...event }) => {
    if (!d) return event;
    if (event.k === 'checkpoint') return { ...event, r: d['reason']! };
    const { call_id: callId, ...rest } = d;
    // the model of a call is the run's
    if (event.k === 'llm_started') delete rest['model'];
    const own = typeof callId === 'string' && callId.startsWith(`${runId}.`);
    const packed: StoredEvent = { ...event, ...(own ? { c: Number(callId.slice(runId.length + 1)) } : {}) };
    if (event.k === 'llm_started' && messages !== undefined) packed.m = messages;
    const data = own || callId === undefined ? rest : d;
    return Object.keys(data).length > 0 ? { ...packed, d: data } : packed;
  });
