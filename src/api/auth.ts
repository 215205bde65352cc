import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { LanefoldError } from '../errors.ts';

/**
 * With an API key, every request must send it as a Bearer token; pages for browsers (`basic`) also accept it as the
 * password of any user. Without a key, only loopback requests are allowed.
 */
export const requireKey = (apiKey: string | undefined, { basic = false } = {}): MiddlewareHandler => {
  if (!apiKey) return loopbackOnly;
  const expected = digest(apiKey);
  return async (c, next) => {
    const given = credentials(c, basic);
    if (given === undefined || !timingSafeEqual(digest(given), expected)) {
      c.header('WWW-Authenticate', basic ? 'Basic realm="lanefold", charset="UTF-8"' : 'Bearer realm="lanefold"');
      throw new LanefoldError(
        'unauthorized',
        given === undefined ? 'The API key is missing.' : 'The API key is wrong.',
        {
          hint: basic
            ? 'Sign in with any user name and LANEFOLD_API_KEY as the password.'
            : 'Send Authorization: Bearer <LANEFOLD_API_KEY>.',
        },
      );
    }
    // A browser sends a remembered password even with requests that another site triggers.
    if (basic) refuseCrossSite(c);
    await next();
  };
};

const loopbackOnly: MiddlewareHandler = async (c, next) => {
  const host = c.req.header('host') ?? '';
  // After DNS rebinding to 127.0.0.1, a page still sends its own name as Host.
  if (!isLoopback(hostname(host))) {
    throw new LanefoldError(
      'forbidden_host',
      `Without an API key this server only answers on loopback, not for ${host.slice(0, 80)}.`,
      {
        hint: 'Use http://127.0.0.1 or http://localhost, or set LANEFOLD_API_KEY to serve other hosts.',
      },
    );
  }
  refuseCrossSite(c);
  await next();
};

function refuseCrossSite(c: Context): void {
  if (c.req.method === 'GET' || c.req.method === 'HEAD') return;
  const site = c.req.header('sec-fetch-site');
  const origin = c.req.header('origin');
  const own =
    site === undefined
      ? origin === undefined || hostOf(origin) === c.req.header('host')
      : site === 'same-origin' || site === 'none';
  if (own) return;
  throw new LanefoldError('forbidden_origin', 'A page of another site sent this request.', {
    hint: 'Call the API from a program or from a page of this server.',
  });
}

function credentials(c: Context, basic: boolean): string | undefined {
  const [scheme = '', value] = (c.req.header('authorization') ?? '').split(' ', 2);
  if (value === undefined) return undefined;
  if (scheme.toLowerCase() === 'bearer') return value;
  if (!basic || scheme.toLowerCase() !== 'basic') return undefined;
  const text = Buffer.from(value, 'base64').toString('utf8');
  return text.slice(text.indexOf(':') + 1);
}

// Hashing makes the lengths equal, so the comparison does not reveal the key's length.
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

const hostOf = (origin: string): string | undefined => (URL.canParse(origin) ? new URL(origin).host : undefined);

const hostname = (host: string): string => (URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : host);

export const isLoopback = (host: string): boolean =>
  /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host) || host.toLowerCase().endsWith('.localhost');
