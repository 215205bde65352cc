import type { LaneMessage } from '../mirror/lane-view.ts';
import type { Turn } from '../mirror/turn.ts';

/** Separates an id from the number of its repetition; no text has this character. */
const mark = '\uffff';

/**
 * Numbers the calls of one answer that share an id, and gives each result to the next of them: a model may repeat an id
 * within an answer, and its results then bind by position.
 */
export function numberRepeated(turns: readonly Turn[]): Turn[] {
  /** By the id that they share: how many calls there are, and how many have a result. */
  let open = new Map<string, { calls: number; results: number }>();
  const numbered = (id: string, earlier: number) => (earlier === 0 ? id : `${id}${mark}${earlier}`);
  return turns.map((turn) => {
    if (turn.is === 'result') {
      const same = open.get(turn.callId);
      return same && same.results < same.calls ? { ...turn, callId: numbered(turn.callId, same.results++) } : turn;
    }
    open = new Map();
    if (turn.is !== 'calls') return turn;
    const calls = turn.message.tool_calls.map((call) => {
      const same = open.get(call.id) ?? { calls: 0, results: 0 };
      open.set(call.id, same);
      return { ...call, id: numbered(call.id, same.calls++) };
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
