import { marked } from '../messages/marked-json.ts';
import { eachWholeLine, whole } from './whole-lines.ts';

/**
 * `fetch` for a provider whose answers have the arguments of a call as JSON values, see `marked`.
 */
export const exactFetch: typeof fetch = async (...request) => {
  const response = await fetch(...request);
  const type = response.headers.get('content-type') ?? '';
  const events = type.includes('text/event-stream');
  if (!response.body || !(events || type.includes('json'))) return response;
  const { status, statusText, headers } = response;
  const body = response.body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .pipeThrough(events ? eachWholeLine(safeLines) : whole(safe))
    .pipeThrough(new TextEncoderStream());
  return new Response(body, { status, statusText, headers });
};

/** A stream is marked line by line, so that it is not delayed. Nothing but calls has values of the model. */
const safe = (text: string): string => (calls.test(text) ? marked(text) : text);
export const safeLines = (lines: string): string => lines.split('\n').map(safe).join('\n');

/** As Google and Anthropic name them. */
const calls = /"functionCall"|"tool_use"/;
