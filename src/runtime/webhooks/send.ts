import type { IncomingMessage } from 'node:http';
import { processClock } from '../../common/clock.ts';
import { retryAfterMs } from '../../common/retry-after.ts';
import { packageVersion } from '../../common/package-root.ts';
import type { AttemptEnd } from '../../store/webhook/deliveries.ts';
import { hideUrl } from '../../webhooks/hide-url.ts';
import { readUrl } from '../../webhooks/read-url.ts';
import type { Resolver } from './name-servers.ts';
import { post } from './post.ts';
import { resolveHost } from './resolve.ts';
import { readAnswer } from './read-answer.ts';
import { failureOf } from './failure.ts';
import { deadline } from '../../common/timer.ts';
import { onAbort } from '../../common/on-abort.ts';

const userAgent = `Lanefold/${packageVersion()}`;

export interface SendOptions {
  /** `http:` URLs and private addresses are allowed. */
  anywhere: boolean;
  timeoutMs: number;
  resolve?: Resolver;
  /** Ends the attempt. */
  stop?: AbortSignal;
}

/**
 * Posts a body to an endpoint, once, and says how that ended; never rejects. Follows no redirect. Returns undefined if `stop`
 * has ended it, or if the receiver had ended the kept connection: the next attempt opens another.
 */
export async function send(
  target: string,
  body: string,
  headers: Record<string, string>,
  { anywhere, timeoutMs, resolve, stop }: SendOptions,
): Promise<AttemptEnd | undefined> {
  const from = performance.now();
  const late = deadline(timeoutMs);
  const signal = stop ? AbortSignal.any([late.signal, stop]) : late.signal;
  const end = await Promise.race([attempt(), aborted(signal)])
    .catch((error: unknown) => ({
      ...{ delivered: false, error: signal.aborted ? noAnswer(timeoutMs) : failureOf(error) },
    }))
    .finally(late.cancel);
  if (!end || (stop?.aborted && !end.delivered)) return undefined;
  return { ...end, durationMs: Math.round(performance.now() - from) };

  async function attempt(): Promise<Omit<AttemptEnd, 'durationMs'> | undefined> {
    const { url, problem } = readUrl(target, anywhere) as { url: URL; problem?: string };
    if (problem) return { delivered: false, error: { code: 'invalid_url', message: `The URL ${problem}.` } };
    const addresses = await resolveHost(url, anywhere, resolve);
    if (!Array.isArray(addresses)) return { delivered: false, error: addresses };
    const response = await post(url, body, { ...headers, 'user-agent': userAgent }, { signal, addresses });
    if (!response) return undefined;
    const { statusCode = 0 } = response;
    const answer = await readAnswer(response, url);
    const waitMs = asksToWait.has(statusCode) ? waitOf(response) : undefined;
    return {
      statusCode,
      answer,
      ...outcomeOf(statusCode, response.headers.location && hideUrl(response.headers.location, url)),
      ...(waitMs && { retryAfterMs: waitMs }),
    };
  }
}

/** The statuses whose `Retry-After` says when the receiver takes deliveries again. */
const asksToWait = new Set([429, 503]);

const waitOf = ({ headers }: IncomingMessage): number | undefined =>
  retryAfterMs((name) => headers[name] as string | undefined, processClock.now());

function outcomeOf(status: number, location: string | undefined): Pick<AttemptEnd, 'delivered' | 'error'> {
  if (status >= 200 && status < 300) return { delivered: true };
  if (status >= 300 && status < 400) {
    const message = `The receiver redirects${location ? ` to ${location.slice(0, 200)}` : ''} (${status}); redirects are not followed.`;
    return { delivered: false, error: { code: 'redirect', message } };
  }
  if (status === 410) return { delivered: false, error: { code: 'gone', message: 'The receiver is gone (410).' } };
  return { delivered: false, error: { code: 'status', message: `The receiver answered ${status}.` } };
}

const noAnswer = (ms: number) => ({ code: 'timeout', message: `The receiver did not answer within ${ms} ms.` });

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    onAbort(signal, () => reject(signal.reason as Error));
  });
