import type { Json, JsonObject } from '../../../agent/context/message.ts';
import type { EventDraft } from '../../../agent/strategies/machine.ts';

/**
 * An event as the trace stores it. Keys have one letter, because the trace is the largest thing stored beside the log;
 * the view `run_event` restores their names.
 */
export interface StoredEvent {
  /** Kind. */
  k: string;
  /** Iteration. */
  i: number;
  /** The entry the event is about, as its offset in the step. */
  e?: number;
  /** The number of the model call, if it belongs to the event's own run. */
  c?: number;
  /** How many messages the context of the model call has. */
  m?: number;
  /** Reason of a checkpoint. */
  r?: Json;
  /** All other data. */
  d?: JsonObject;
}

/**
 * Packs events for storage. Leaves out what the row of the batch or the run implies: the run's id in the id of a model
 * call, and the run's model.
 *
 * @param messages how many messages are in the context of a model call that the step starts
 */
export const packEvents = (
  runId: string,
  events: readonly EventDraft[] | undefined,
  messages?: number,
): StoredEvent[] | undefined => events?.map((event) => packEvent(runId, event, messages));

function packEvent(runId: string, { kind, iteration, entry, data }: EventDraft, messages?: number): StoredEvent {
  const packed: StoredEvent = { k: kind, i: iteration, ...(entry === undefined ? {} : { e: entry }) };
  if (!data) return packed;
  if (kind === 'checkpoint') return { ...packed, r: data['reason']! };
  const { call_id: callId, ...rest } = data;
  if (kind === 'llm_started') {
    // the model of a call is the run's
    delete rest['model'];
    // a question that the strategy asks has another context than the lane
    if (messages !== undefined && rest['node'] === undefined) packed.m = messages;
  }
  const ownCall = typeof callId === 'string' && callId.startsWith(`${runId}.`);
  if (ownCall) packed.c = Number(callId.slice(runId.length + 1));
  const stored = ownCall || callId === undefined ? rest : data;
  return Object.keys(stored).length > 0 ? { ...packed, d: stored } : packed;
}
