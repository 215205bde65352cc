import { beginning, eachWholeLine, whole } from './whole-lines.ts';

/** How much is read of the body of an error. */
const maxErrorChars = 2 ** 20;

/** How an answer is changed before a package reads it: line by line, or as a whole if it is JSON of several lines. */
interface Change {
  lines?: (text: string) => string;
  json?: (text: string) => string;
}

/**
 * A `fetch` that bounds what a provider answers, and changes it. Every built-in provider has one. A stream is changed line by
 * line, so that it is not delayed.
 */
export const providerFetch =
  ({ lines = (text) => text, json }: Change = {}): typeof fetch =>
  async (...request) => {
    const response = await fetch(...request);
    if (!response.body) return response;
    const isJson = response.headers.get('content-type')?.includes('json') ?? false;
    const changed = json && isJson ? whole(json) : eachWholeLine(lines);
    const body = response.body
      .pipeThrough(new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array>)
      .pipeThrough(response.ok ? changed : beginning(maxErrorChars))
      .pipeThrough(new TextEncoderStream() as unknown as ReadableWritablePair<Uint8Array<ArrayBuffer>, string>);
    const { status, statusText } = response;
    const headers = new Headers(response.headers);
    // they describe the bytes as sent
    for (const name of ['content-length', 'content-encoding']) headers.delete(name);
    return new Response(body, { status, statusText, headers });
  };
