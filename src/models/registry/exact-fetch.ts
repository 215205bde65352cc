import { marked } from '../messages/marked-json.ts';

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
    .pipeThrough(marking(events))
    .pipeThrough(new TextEncoderStream());
  return new Response(body, { status, statusText, headers });
};

/** A stream is marked line by line, so that it is not delayed. Nothing but calls has values of the model. */
function marking(events: boolean): TransformStream<string, string> {
  let rest = '';
  const safe = (text: string): string => (calls.test(text) ? marked(text) : text);
  return new TransformStream({
    transform(chunk, controller) {
      rest += chunk;
      const end = events ? rest.lastIndexOf('\n') + 1 : 0;
      if (end === 0) return;
      controller.enqueue(rest.slice(0, end).split('\n').map(safe).join('\n'));
      rest = rest.slice(end);
    },
    flush(controller) {
      if (rest !== '') controller.enqueue(safe(rest));
    },
  });
}

/** As Google and Anthropic name them. */
const calls = /"functionCall"|"tool_use"/;
