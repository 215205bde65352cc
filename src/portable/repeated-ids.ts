import type { LaneMessage } from '../mirror/lane-view.ts';
import type { Turn } from '../mirror/turn.ts';

/** Separates an id from the number of its repetition; no text has this character. */
const mark = '\uffff';

/**
 * Numbers the calls of one answer that share an id, and gives each result to the next of them: a model may repeat an id
 * within an answer, and its results then bind by position.
 */
export function numberRepeated(turns: readonly Turn[]): Turn[] {
  let open = new Map<string, string[]>();
  return turns.map((turn) => {
    if (turn.is === 'result') return { ...turn, callId: open.get(turn.callId)?.shift() ?? turn.callId };
    open = new Map();
    if (turn.is !== 'calls') return turn;
    const calls = turn.message.tool_calls.map((call) => {
      const earlier = open.get(call.id) ?? [];
      const id = earlier.length === 0 ? call.id : `${call.id}${mark}${earlier.length}`;
      open.set(call.id, [...earlier, id]);
      return { ...call, id };
    });
    return { ...turn, message: { ...turn.message, tool_calls: calls } };
  });
}

const plain = (id: string): string => id.replace(/\uffff\d+$/, '');

/** Undoes `numberRepeated`. */
export function withoutNumbers(message: LaneMessage): LaneMessage {
  const { tool_calls: calls, tool_call_id: callId } = message;
  return {
    ...message,
    ...(calls ? { tool_calls: calls.map((call) => ({ ...call, id: plain(call.id) })) } : {}),
    ...(callId === undefined ? {} : { tool_call_id: plain(callId) }),
  };
}
