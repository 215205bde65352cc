import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { LanefoldError } from '../errors.ts';

/**
 * With a key: every request must carry it, as a Bearer token, and where people come with a browser (`basic`) also as
 * the password of any user. Without one the server is for this machine alone.
 */
export const requireKey = (apiKey: string | undefined, { basic = false } = {}): MiddlewareHandler => {
  if (!apiKey) return loopbackOnly;
  const expected = digest(apiKey);
  return async (c, next) => {
    const given = credentials(c, basic);
    if (given === undefined || !timingSafeEqual(digest(given), expected)) {
      c.header('WWW-Authenticate', basic ? 'Basic realm="lanefold", charset="UTF-8"' : 'Bearer realm="lanefold"');
      throw new LanefoldError('unauthorized', given === undefined ? 'The request has no key.' : 'The key is wrong.', {
        hint: basic
          ? 'Sign in with any user name and LANEFOLD_API_KEY as the password.'
          : 'Send Authorization: Bearer <LANEFOLD_API_KEY>.',
      });
    }
    // a browser sends a remembered password with whatever another site makes it send
    if (basic) refuseCrossSite(c);
    await next();
  };
};

const loopbackOnly: MiddlewareHandler = async (c, next) => {
  const host = c.req.header('host') ?? '';
  // a page whose name was rebound to 127.0.0.1 still says its own name
  if (!isLoopback(hostname(host))) {
    throw new LanefoldError('forbidden_host', `This server answers for loopback only, not for ${host.slice(0, 80)}.`, {
      hint: 'Use http://127.0.0.1 or http://localhost; to serve other names set LANEFOLD_API_KEY.',
    });
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
  throw new LanefoldError('forbidden_origin', 'The request was sent by a page of another site.', {
    hint: 'Call the API from a program, or from a page of this server.',
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

// equal lengths, so that the comparison tells nothing of the key's
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

const hostOf = (origin: string): string | undefined => (URL.canParse(origin) ? new URL(origin).host : undefined);

const hostname = (host: string): string => (URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : host);

export const isLoopback = (host: string): boolean =>
  /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host) || host.toLowerCase().endsWith('.localhost');
