import type { MiddlewareHandler } from 'hono';
import { Webhook } from 'standardwebhooks';
import type { Principal } from '../../base/access/principal.ts';
import { LanefoldError } from '../../base/errors.ts';
import type { ApiEnv } from '../env.ts';
import { readBody } from '../read-body.ts';

/** Where a scheduler has the server work; see `work` of the library. */
export const workPath = '/v1/work';

/** The signature covers the body, so as much of a body is read before its credential is known. */
const maxBytes = 1_024;
const timeoutMs = 5_000;

/** May work, and nothing else. */
const signer: Principal = {
  actor: 'signature',
  scopes: ['admin'],
  operations: { work: ['max_seconds', 'concurrency'] },
};

/**
 * Admits requests that one of the secrets has signed, as Standard Webhooks says; all others are left to keys. A request
 * is valid for five minutes, also if it comes again.
 *
 * @throws LanefoldError `invalid_input` for a secret that is too short, or no base64
 */
export function bySignature(secrets: readonly string[]): MiddlewareHandler<ApiEnv> {
  const verifiers = secrets.map(verifierOf);
  return async (c, next) => {
    const { raw } = c.req;
    if (verifiers.length === 0 || !raw.headers.has('webhook-signature')) return next();
    const hint = 'A signed request has an empty body, or max_seconds and concurrency.';
    const body = raw.body ? await readBody(raw.body, { maxBytes, timeoutMs, hint }) : Buffer.alloc(0);
    const headers = Object.fromEntries(raw.headers);
    if (!verifiers.some((verifier) => isSigned(verifier, body.toString('utf8'), headers))) throw wrongSignature();
    c.req.raw = new Request(raw.url, {
      method: raw.method,
      headers: raw.headers,
      ...(body.byteLength > 0 ? { body } : {}),
    });
    c.set('principal', signer);
    c.set('identify', () => Promise.resolve(signer));
    c.set('admitted', true);
    await next();
  };
}

/** Checks the key of a request whose signature has not admitted it. */
export const unlessSigned =
  (byKey: MiddlewareHandler<ApiEnv>): MiddlewareHandler<ApiEnv> =>
  (c, next) =>
    c.get('admitted') ? next() : byKey(c, next);

/** Fewer bytes than this could be guessed. */
const minBytes = 24;

function verifierOf(secret: string): Webhook {
  try {
    const bytes = Buffer.from(secret.replace(/^whsec_/, ''), 'base64').byteLength;
    if (bytes >= minBytes) return new Webhook(secret);
  } catch {
    // no base64
  }
  throw new LanefoldError('invalid_input', `A secret for signed work is not base64 of at least ${minBytes} bytes.`, {
    hint: 'Nothing was started. Make one with: echo "whsec_$(openssl rand -base64 32)"',
    details: { field: 'workSecrets' },
  });
}

function isSigned(verifier: Webhook, body: string, headers: Record<string, string>): boolean {
  try {
    verifier.verify(body, headers, { jsonParse: false });
    return true;
  } catch {
    return false;
  }
}

const wrongSignature = () =>
  new LanefoldError('unauthorized', 'The signature of the request is wrong, or older than five minutes.', {
    hint: 'Sign the exact body with LANEFOLD_WORK_SECRET, as Standard Webhooks says, and check the clock of the caller.',
  });
