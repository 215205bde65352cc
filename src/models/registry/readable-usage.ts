import { assertFewCalls } from '../answer/bounds.ts';
import { eachWholeLine } from './whole-lines.ts';

/** A counter of OpenAI's `usage` that is no JSON number: a string, or a NaN of a server in Python. */
const unreadable = /("(?:prompt|completion|total)_tokens"\s*:\s*)("[^"]{0,40}"|NaN|-?Infinity)/g;

/**
 * Text of a response with counters that the provider's package can read: it rejects the whole answer for one it cannot.
 * Inside a text of the model, the quotes would be escaped.
 */
export const readable = (text: string): string => {
  assertFewCalls(text);
  return text.includes('_tokens"')
    ? text.replace(unreadable, (_, key: string, value: string) => key + (/^"(\d{1,12})"$/.exec(value)?.[1] ?? 'null'))
    : text;
};

/** A `fetch` whose answers have readable counters, for servers that only resemble OpenAI's. */
export const fetchReadable: typeof fetch = async (...request) => {
  const response = await fetch(...request);
  if (!response.ok || !response.body) return response;
  const body = response.body
    .pipeThrough(new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array>)
    .pipeThrough(eachWholeLine(readable))
    .pipeThrough(new TextEncoderStream() as unknown as ReadableWritablePair<Uint8Array<ArrayBuffer>, string>);
  const { status, statusText } = response;
  const headers = new Headers(response.headers);
  // they describe the bytes as sent
  for (const name of ['content-length', 'content-encoding']) headers.delete(name);
  return new Response(body, { status, statusText, headers });
};
