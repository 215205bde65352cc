import type { Json, JsonObject } from '../context/message.ts';

/** A result for people: its text; of a structured one its `answer` or the content of its `best`; else its JSON. */
export function readableAnswer(result: Json): string {
  if (typeof result === 'string') return result;
  const { answer, best } = Object(result) as JsonObject;
  if (typeof answer === 'string') return answer;
  const { content } = Object(best) as JsonObject;
  return typeof content === 'string' ? content : JSON.stringify(result);
}
