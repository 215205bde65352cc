import { createHmac, timingSafeEqual } from 'node:crypto';
import { LanefoldError } from '../errors.ts';
import { parseJson } from '../common/json.ts';

/** The event that the holder of a token may send. */
export interface EventGrant {
  tenant: string;
  event: string;
  /** How long the event is kept for calls that begin to wait for it later, in ms. */
  keepMs: number;
  /** In ms since 1970; null: never. */
  expiresAtMs: number | null;
}

const prefix = 'ev1.';

/** `ev1.<payload>.<HMAC-SHA256 of prefix and payload>`, both base64url. It is signed, not encrypted. */
export function signEvent({ tenant, event, keepMs, expiresAtMs }: EventGrant, secret: string): string {
  const payload = `${prefix}${Buffer.from(JSON.stringify([tenant, event, keepMs, expiresAtMs])).toString('base64url')}`;
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
  const [tenant, event, keepMs, expiresAtMs] = parseJson(
    Buffer.from(payload.slice(prefix.length), 'base64url').toString(),
  ) as [string, string, number, number | null];
  if (expiresAtMs !== null && nowMs > expiresAtMs) {
    throw new LanefoldError('token_expired', 'The token of this event has expired.', {
      hint: 'Create another one with events.token.',
    });
  }
  return { tenant, event, keepMs, expiresAtMs };
}

export const invalidEventToken = (): LanefoldError =>
  new LanefoldError('invalid_event_token', 'The token of this event was not signed by this server.', {
    hint: 'Use the whole token, unchanged. Create another one with events.token.',
  });

const hmac = (payload: string, secret: string): Buffer => createHmac('sha256', secret).update(payload).digest();
