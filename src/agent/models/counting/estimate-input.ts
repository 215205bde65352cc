import type { Message } from '../../context/message.ts';
import { toolTokens } from '../../policy/heuristic.ts';
import type { Counting } from './counting.ts';

/** Each message is counted once per model, because messages of a context never change. */
const counted = new WeakMap<Message, { model: string; tokens: number }>();

/** Tokens of a request by the heuristic, as calibration compares them with the provider's reports. */
export function requestTokens(
  counting: Pick<Counting, 'heuristicOf'>,
  model: string,
  messages: readonly Message[],
  tools: readonly object[],
): number {
  const heuristic = counting.heuristicOf(model);
  let sum = toolTokens(tools);
  for (const message of messages) {
    let known = counted.get(message);
    if (known?.model !== model) counted.set(message, (known = { model, tokens: heuristic(message) }));
    sum += known.tokens;
  }
  return sum;
}

/** About how many input tokens a request has, by the heuristic as the provider's reports have calibrated it. */
export const estimateInput = (
  counting: Pick<Counting, 'heuristicOf' | 'calibrationOf'>,
  model: string,
  messages: readonly Message[],
  tools: readonly object[],
): number =>
  Math.ceil(requestTokens(counting, model, messages, tools) * Math.max(1, counting.calibrationOf(model).ratio));
