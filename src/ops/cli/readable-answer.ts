import type { Json, JsonObject } from '../../agent/context/message.ts';

/**
 * A result for people: its text; for a structured result its `answer`, or the content of its `best`; else its JSON.
 * Undefined for a run that ended without an answer. A search that found no line with the answer shows what the model
 * wrote.
 */
export function readableAnswer(result: Json): string | undefined {
  if (result === null) return undefined;
  if (typeof result === 'string') return result;
  const { answer, best, raw_response: written } = Object(result) as JsonObject;
  if (typeof answer === 'string') return answer;
  if (answer === null && typeof written === 'string') return written === '' ? undefined : written;
  const { content } = Object(best) as JsonObject;
  return typeof content === 'string' ? content : JSON.stringify(result);
}
