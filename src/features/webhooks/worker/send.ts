import { createHmac } from 'node:crypto';
import http, { type IncomingMessage } from 'node:http';
import { processClock, after, onAbort } from '../../../base/common/timer.ts';
import { retryAfterMs } from '../../../base/common/network.ts';
import { packageVersion } from '../../../base/environment.ts';
import type { AttemptEnd } from '../store/deliveries.ts';
import { hideUrl, readUrl, longestUrl } from '../definition/url.ts';
import { resolveHost, pinned, type Resolver } from './addresses.ts';
import type { LookupAddress } from 'node:dns';
import https from 'node:https';

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
export function send(
  target: string,
  body: string,
  headers: Record<string, string>,
  options: SendOptions,
): Promise<AttemptEnd | undefined> {
  const { timeoutMs, stop } = options;
  const from = performance.now();
  const request: OpenRequest = { over: false };
  // by hand, because signals and races of promises would take as long as the request itself
  return new Promise((resolve) => {
    const end = (how: Omit<AttemptEnd, 'durationMs'> | undefined) => {
      if (request.over) return;
      request.over = true;
      late.cancel();
      unhook?.();
      resolve(how && { ...how, durationMs: Math.round(performance.now() - from) });
    };
    const interrupt = (how: Omit<AttemptEnd, 'durationMs'> | undefined) => {
      end(how);
      request.sent?.destroy();
    };
    const late = after(timeoutMs, () => interrupt({ delivered: false, error: noAnswer(timeoutMs) }));
    const unhook = stop && onAbort(stop, () => interrupt(undefined));
    attempt(target, body, { headers, request, ...options }).then(end, (error: unknown) =>
      end({ delivered: false, error: failureOf(error) }),
    );
  });
}

/** A request that its caller may end. */
interface OpenRequest {
  sent?: http.ClientRequest;
  /** Nothing is sent any more. */
  over: boolean;
}

async function attempt(
  target: string,
  body: string,
  { anywhere, resolve, headers, request }: SendOptions & { headers: Record<string, string>; request: OpenRequest },
): Promise<Omit<AttemptEnd, 'durationMs'> | undefined> {
  const { url, problem } = readUrl(target, anywhere) as { url: URL; problem?: string };
  if (problem) return { delivered: false, error: { code: 'invalid_url', message: `The URL ${problem}.` } };
  const addresses = await resolveHost(url, anywhere, resolve);
  if (!Array.isArray(addresses)) return { delivered: false, error: addresses };
  if (request.over) return undefined;
  const response = await post(url, body, { ...headers, 'user-agent': userAgent }, { request, addresses });
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

/** What a failed connection means, by its code. */
const meanings: Record<string, string> = {
  ECONNREFUSED: 'The receiver refused the connection',
  ECONNRESET: 'The receiver ended the connection',
  EPIPE: 'The receiver ended the connection',
  ETIMEDOUT: 'The receiver did not accept the connection in time',
  EHOSTUNREACH: 'The receiver cannot be reached',
  ENETUNREACH: 'The receiver cannot be reached',
};

/** Why a request got no answer: {code, message}. */
function failureOf(error: unknown): { code: string; message: string } {
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (/CERT|SIGNATURE|^SELF_SIGNED|_CHAIN|^ERR_TLS|^UNABLE_TO/.test(code))
    return { code: 'certificate', message: `The certificate of the receiver is not accepted: ${message} (${code}).` };
  if (/^ERR_SSL|^EPROTO/.test(code))
    return { code: 'tls', message: `The receiver does not speak TLS as expected (${code}).` };
  return { code: 'connection', message: `${meanings[code] ?? 'The connection failed'} (${code || message}).` };
}

const mostBytes = 1_024;
/** A part of the URL is found whole, also where the text that is kept ends. */
const readBytes = mostBytes + longestUrl;
/** The status counts; its text is not worth a long wait, in ms. */
const patienceMs = 1_000;

/**
 * The beginning of an answer as text, without control characters and without what of the endpoint's URL may be secret. Ends
 * the connection, unless the answer ends.
 */
async function readAnswer(response: IncomingMessage, url: URL): Promise<string> {
  if (response.statusCode === 204 || response.headers['content-length'] === '0') return ended(response);
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

/** An answer without text, once its connection may be used again. */
const ended = (response: IncomingMessage): Promise<string> =>
  new Promise((resolve) => {
    const done = () => resolve('');
    response.on('end', done).on('close', done).on('error', done).resume();
  });

/** How long a connection is kept, in ms: less than receivers keep theirs, so that few end it under a request. */
const keptMs = 1_000;

/** Names a kept connection also by the addresses that were checked: it is used again only for a host that has the same. */
const named =
  <Options extends object>(getName: (options?: Options) => string) =>
  (options?: Options): string =>
    `${getName(options)} ${String((options as { checked?: string } | undefined)?.checked)}`;

const kept = { keepAlive: true, timeout: keptMs };
const agents = { 'http:': new http.Agent(kept), 'https:': new https.Agent(kept) };
for (const agent of Object.values(agents)) agent.getName = named(agent.getName.bind(agent));

interface PostOptions {
  request: OpenRequest;
  /** The addresses that the host has now; the connection goes to one of them. */
  addresses: readonly LookupAddress[];
}

/** Posts a body. Returns undefined if a kept connection was no longer one. */
function post(
  url: URL,
  body: string,
  headers: Record<string, string>,
  { request: open, addresses }: PostOptions,
): Promise<http.IncomingMessage | undefined> {
  const agent = agents[url.protocol as keyof typeof agents];
  const checked = addresses
    .map(({ address }) => address)
    .sort()
    .join(' ');
  const options = {
    agent,
    checked,
    method: 'POST',
    lookup: pinned(addresses),
    rejectUnauthorized: true,
    headers: { ...headers, 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) },
  };
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? https : http).request(url, options, resolve);
    open.sent = request;
    request.on('error', (error: NodeJS.ErrnoException) => {
      if (request.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE')) {
        // the others to this host may have ended, too
        for (const [name, sockets] of Object.entries(agent.freeSockets))
          if (name.startsWith(`${url.hostname}:`)) for (const socket of sockets ?? []) socket.destroy();
        resolve(undefined);
      } else reject(error);
    });
    request.end(body);
  });
}

/** The headers of Standard Webhooks, with a signature for each secret. */
export function signedHeaders(id: string, at: Date, body: string, secrets: readonly string[]) {
  const seconds = String(Math.floor(at.getTime() / 1_000));
  return {
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': secrets.map((secret) => signature(secret, `${id}.${seconds}.${body}`)).join(' '),
  };
}

/** By the crypto of Node.js: that of the library for receivers is JavaScript, and takes four times as long. */
const signature = (secret: string, text: string): string =>
  `v1,${createHmac('sha256', Buffer.from(secret.replace(/^whsec_/, ''), 'base64'))
    .update(text)
    .digest('base64')}`;

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Pauses between the attempts of a delivery: eleven attempts in about a day. */
const pausesMs = [
  5 * second,
  30 * second,
  2 * minute,
  10 * minute,
  30 * minute,
  hour,
  2 * hour,
  4 * hour,
  8 * hour,
  8 * hour,
];

/** Spreads attempts that failed together, as a part of the pause. */
const spread = 0.2;

/**
 * In how many ms attempt `nth + 1` comes, ±20 %; undefined after the last one.
 *
 * @param random from 0 to 1
 */
export function retryMs(nth: number, random: number): number | undefined {
  const pause = pausesMs[nth - 1];
  return pause === undefined ? undefined : Math.round(pause * (1 - spread + 2 * spread * random));
}
