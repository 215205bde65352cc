import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { LanefoldError } from '../errors.ts';
import { authorize } from './authorize.ts';
import type { Principal } from './principal.ts';
import type { Scope } from './scope.ts';

const prefix = 'lft_';

/** What a page may do with a token: see a thread or a run, or also ask, steer and cancel in it. */
export type BrowserAccess = 'read' | 'chat';

export const scopesOf: Record<BrowserAccess, readonly Scope[]> = {
  read: ['read'],
  chat: ['read', 'run', 'steer'],
};

/** The content of a token. It is signed, not encrypted. */
const Payload = z.strictObject({
  access: z.enum(['read', 'chat']),
  thread_id: z.string(),
  run_id: z.string().optional(),
  tenant: z.string().optional(),
  agents: z.array(z.string()).optional(),
  /** Of the key that made it; what the token does counts as done by the key. */
  limits: z
    .strictObject({
      requestsPerMinute: z.number().optional(),
      runs: z.number().optional(),
      streams: z.number().optional(),
      bodyBytes: z.number().optional(),
    })
    .optional(),
  by: z.string(),
  exp_ms: z.number(),
});

export type BrowserToken = z.infer<typeof Payload>;

export const isBrowserToken = (text: string): boolean => text.startsWith(prefix);

/** `lft_<payload>.<HMAC-SHA256>`, both base64url. */
export function signBrowserToken(token: BrowserToken, secret: string): string {
  const payload = Buffer.from(JSON.stringify(token)).toString('base64url');
  return `${prefix}${payload}.${hmac(payload, secret).toString('base64url')}`;
}

/** Who holds a token. @throws LanefoldError `unauthorized` if it is altered or has expired */
export function readBrowserToken(text: string, secrets: readonly string[], nowMs: number): Principal {
  const [payload = '', signature = ''] = text.slice(prefix.length).split('.');
  const given = Buffer.from(signature, 'base64url');
  const genuine = secrets.some((secret) => {
    const expected = hmac(payload, secret);
    return expected.length === given.length && timingSafeEqual(expected, given);
  });
  if (!genuine) throw refused('is not one of this server');
  const token = Payload.parse(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')));
  if (token.exp_ms <= nowMs) throw refused('has expired');
  const { thread_id: threadId, run_id: runId, tenant, agents, limits, by, access } = token;
  return {
    actor: `token:${by}`,
    scopes: scopesOf[access],
    threadId,
    ...(runId === undefined ? {} : { runId }),
    ...(tenant === undefined ? {} : { tenant }),
    ...(agents === undefined ? {} : { agents }),
    ...(limits === undefined ? {} : { limits }),
  };
}

/** Whoever holds a token does not make others, and nobody gives away rights they lack. @throws LanefoldError `forbidden` */
export function assertMayMint(principal: Principal, access: BrowserAccess): void {
  if (principal.actor.startsWith('token:')) {
    throw new LanefoldError('forbidden', 'A browser token cannot make others.', { hint: 'Your backend mints them.' });
  }
  const { actor, scopes } = principal;
  for (const scope of scopesOf[access]) authorize({ actor, scopes }, { scope });
}

/** The prefix keeps a signature from serving as one of a checkpoint token, which the same secrets sign. */
const hmac = (payload: string, secret: string): Buffer =>
  createHmac('sha256', secret).update(`${prefix}${payload}`).digest();

const refused = (why: string): LanefoldError =>
  new LanefoldError('unauthorized', `The token ${why}.`, {
    hint: 'Ask your backend for a new one; it mints them with POST /v1/tokens.',
  });
