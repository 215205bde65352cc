import { createHmac, timingSafeEqual } from 'node:crypto';
import { LanefoldError } from '../errors.ts';
import { parseJson } from '../common/json.ts';

/** The event that the holder of a token may send. */
export interface EventGrant {
  tenant: string;
  event: string;
  /** How long the event is kept for calls that begin to wait for it later, in ms. */
  keepMs: number;
  /** In ms since 1970. */
  expiresAtMs: number;
  /** The id of the API key that made the token, which dies with it. */
  key?: string | undefined;
}

const prefix = 'ev1.';

/** `ev1.<payload>.<HMAC-SHA256 of prefix and payload>`, both base64url. It is signed, not encrypted. */
export function signEvent({ tenant, event, keepMs, expiresAtMs, key }: EventGrant, secret: string): string {
  const fields = [tenant, event, keepMs, expiresAtMs, ...(key === undefined ? [] : [key])];
  const payload = `${prefix}${Buffer.from(JSON.stringify(fields)).toString('base64url')}`;
  return `${payload}.${hmac(payload, secret).toString('base64url')}`;
}

/** @throws LanefoldError `invalid_event_token`, `token_expired` */
export function readEventToken(token: string, secrets: readonly string[], nowMs: number): EventGrant {
  const end = token.lastIndexOf('.');
  const payload = token.slice(0, end);
  const signature = Buffer.from(token.slice(end + 1), 'base64url');
  const matches = secrets.filter((secret) => {
    const expected = hmac(payload, secret);
    return expected.length === signature.length && timingSafeEqual(expected, signature);
  });
  if (!payload.startsWith(prefix) || matches.length === 0) throw invalidEventToken();
  const [tenant, event, keepMs, expiresAtMs, key] = parseJson(
    Buffer.from(payload.slice(prefix.length), 'base64url').toString(),
  ) as [string, string, number, number, string?];
  if (nowMs > expiresAtMs) throw tokenExpired('The token of this event has expired.');
  return { tenant, event, keepMs, expiresAtMs, key };
}

export const tokenExpired = (message: string): LanefoldError =>
  new LanefoldError('token_expired', message, { hint: 'Create another one with events.token.' });

export const invalidEventToken = (): LanefoldError =>
  new LanefoldError('invalid_event_token', 'The token of this event was not signed by this server.', {
    hint: 'Use the whole token, unchanged. Create another one with events.token.',
  });

const hmac = (payload: string, secret: string): Buffer => createHmac('sha256', secret).update(payload).digest();
