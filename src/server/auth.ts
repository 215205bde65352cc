import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { operator } from '../base/access/principal.ts';
import { LanefoldError } from '../base/errors.ts';
import type { KnownKeys } from './access/known-keys.ts';
import type { ApiEnv } from './env.ts';

/**
 * Identifies who makes a request. If the server has an API key, every request must send it, or a key or token that
 * `keys` knows, as a Bearer token; pages for browsers (`basic`) also accept it as the password of any user. Without a
 * server key, loopback requests need no key.
 */
export const authenticate = (
  apiKey: string | undefined,
  keys: KnownKeys,
  { basic = false } = {},
): MiddlewareHandler<ApiEnv> => {
  const expected = apiKey === undefined ? undefined : digest(apiKey);
  return async (c, next) => {
    const given = credentials(c, basic);
    const identify = async () => (given === undefined ? undefined : keys.find(given));
    const found = await identify();
    if (found) c.set('principal', found);
    else if (!expected) assertLoopback(c);
    else if (given === undefined || !timingSafeEqual(digest(given), expected)) {
      c.header('WWW-Authenticate', basic ? 'Basic realm="lanefold", charset="UTF-8"' : 'Bearer realm="lanefold"');
      throw new LanefoldError(
        'unauthorized',
        given === undefined ? 'The API key is missing.' : 'The API key is wrong.',
        {
          hint: basic
            ? 'Sign in with any user name and LANEFOLD_API_KEY as the password.'
            : 'Send Authorization: Bearer <LANEFOLD_API_KEY>, or a key created with `lanefold keys create`.',
        },
      );
    }
    if (!found) c.set('principal', operator);
    c.set('identify', async () => (await identify()) ?? c.get('principal'));
    // A browser sends a remembered password even with requests that another site triggers.
    if (basic) refuseCrossSite(c);
    c.set('admitted', true);
    await next();
  };
};

function assertLoopback(c: Context): void {
  const host = c.req.header('host') ?? '';
  // After DNS rebinding to 127.0.0.1, a page still sends its own name as Host.
  if (!isLoopback(hostname(host))) {
    throw new LanefoldError(
      'forbidden_host',
      `Without an API key, this server answers only on loopback, not for ${host.slice(0, 80)}.`,
      {
        hint: 'Use http://127.0.0.1 or http://localhost, or set LANEFOLD_API_KEY to serve other hosts.',
      },
    );
  }
  refuseCrossSite(c);
}

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
