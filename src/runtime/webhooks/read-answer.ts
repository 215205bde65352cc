import type { IncomingMessage } from 'node:http';
import { after } from '../../common/timer.ts';
import { hideUrl } from '../../webhooks/hide-url.ts';
import { longestUrl } from '../../webhooks/read-url.ts';

const mostBytes = 1_024;
/** A part of the URL is found whole, also where the text that is kept ends. */
const readBytes = mostBytes + longestUrl;
/** The status counts; its text is not worth a long wait, in ms. */
const patienceMs = 1_000;

/**
 * The beginning of an answer as text, without control characters and without what of the endpoint's URL may be secret. Ends
 * the connection, unless the answer ends.
 */
export async function readAnswer(response: IncomingMessage, url: URL): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const timer = after(patienceMs, () => response.destroy());
  try {
    for await (const chunk of response) {
      chunks.push(chunk as Buffer);
      bytes += (chunk as Buffer).length;
      if (bytes >= readBytes) break;
    }
  } catch {
    // what has come until then is enough
  } finally {
    timer.cancel();
    if (!response.complete) response.destroy();
  }
  const read = hideUrl(Buffer.concat(chunks).subarray(0, readBytes).toString('utf8'), url);
  const text = Buffer.from(read).subarray(0, mostBytes).toString('utf8');

  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '').trim();
}
