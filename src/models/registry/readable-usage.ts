import { assertFewCalls } from '../answer/bounds.ts';
import { providerFetch } from './provider-fetch.ts';

/** A counter of OpenAI's `usage` that is not a JSON number: a string, or a NaN of a server in Python. */
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
export const fetchReadable = providerFetch({ lines: readable });
