import { createHmac, timingSafeEqual } from 'node:crypto';
import { refused } from './checkpoint.ts';

const prefix = 'rt2.';

/** `rt2.<payload>.<HMAC-SHA256 of the payload's bytes>`, both base64url without padding. */
export function sign(payload: Buffer, secret: string): string {
  return `${prefix}${payload.toString('base64url')}.${hmac(payload, secret).toString('base64url')}`;
}

/**
 * The payload of a token signed with one of the secrets.
 *
 * @throws LanefoldError `invalid_token_prefix`, `invalid_token_format`, `invalid_base64`, `invalid_token_signature`,
 * checked in this order
 */
export function verify(token: unknown, secrets: readonly string[]): Buffer {
  if (typeof token !== 'string' || !token.startsWith(prefix)) {
    throw refused('invalid_token_prefix', `it does not begin with ${prefix}`);
  }
  const parts = token.slice(prefix.length).split('.');
  if (parts.length !== 2) throw refused('invalid_token_format', 'it does not have two parts after its prefix');
  const [payload, signature] = parts.map(fromBase64Url) as [Buffer, Buffer];
  // Try every secret, so that the duration does not reveal which one matched.
  const matches = secrets.filter((secret) => {
    const expected = hmac(payload, secret);
    return expected.length === signature.length && timingSafeEqual(expected, signature);
  });
  if (matches.length === 0) throw refused('invalid_token_signature', 'its signature does not match any secret');
  return payload;
}

function fromBase64Url(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64url');
  // Node skips invalid characters and ignores the padding bits of the last one; reject both, so that each token has one
  // spelling.
  if (bytes.toString('base64url') !== text) throw refused('invalid_base64', 'one of its parts is not base64url');
  return bytes;
}

const hmac = (payload: Buffer, secret: string): Buffer => createHmac('sha256', secret).update(payload).digest();
