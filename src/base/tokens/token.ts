import { idGrammar } from '../checks/ids.ts';
import { parseJson, isObject } from '../common/json.ts';
import { listedIn } from '../environment.ts';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { LanefoldError, type ErrorCode } from '../errors.ts';

const version = 2;
const issuer = 'lanefold/react';
const statuses = ['waiting', 'queued', 'running', 'suspended', 'completed', 'failed', 'cancelled'];

const toPayload = (point: Checkpoint): Buffer =>
  Buffer.from(
    JSON.stringify({
      v: version,
      iss: issuer,
      thread_id: point.threadId,
      run_id: point.runId,
      request_id: point.requestId,
      agent: point.agent,
      step: point.step,
      iat_ms: point.iatMs,
      exp_ms: point.expMs,
      config_fingerprint: point.configFingerprint,
      state: point.state,
    }),
  );

interface Expected {
  nowMs: number;
  /** The fingerprint of an agent as configured now; undefined if the agent is unknown. */
  fingerprintOf: (agent: unknown) => string | undefined;
}

/**
 * Reads a payload whose signature has been verified.
 *
 * @throws LanefoldError with the code of the first check that fails
 */
function fromPayload(bytes: Buffer, { nowMs, fingerprintOf }: Expected): Checkpoint {
  const p = parse(bytes);
  if (p['v'] !== version) throw refused('token_version_mismatch', `its version is not ${version}`);
  if (p['iss'] !== issuer) throw refused('invalid_token_issuer', 'it was not minted by Lanefold');
  const exp = p['exp_ms'] ?? null;
  if (exp !== null && !(Number.isInteger(exp) && nowMs <= (exp as number))) {
    throw refused('token_expired', 'it has expired');
  }
  const fingerprint = p['config_fingerprint'];
  if (typeof fingerprint !== 'string' || fingerprint !== fingerprintOf(p['agent'])) {
    throw refused(
      'token_config_mismatch',
      'the configuration of its agent has changed, or this process does not know the agent',
    );
  }
  const { state } = p;
  if (!isObject(state) || !('context' in state)) throw refused('invalid_token_state', 'it has no state to resume from');
  for (const field of ['run_id', 'request_id', 'thread_id']) {
    const value = p[field];
    if (typeof value !== 'string' || value === '') {
      throw refused('missing_field', `it has no ${field}`, { name: field });
    }
  }
  if (!statuses.includes(state['status'] as string)) throw refused('invalid_status', 'its status is not a run status');
  if (!isId(state['context'])) throw refused('invalid_context', 'its context is not a lane name');
  const { run_id: runId, request_id: requestId, thread_id: threadId, step, iat_ms: iatMs } = p;
  if (![runId, requestId, threadId].every(isId) || ![step, iatMs, state['iteration']].every(isCount)) {
    throw refused('invalid_checkpoint_state', 'one of its fields is out of range');
  }
  return {
    threadId,
    runId,
    requestId,
    agent: p['agent'],
    step,
    iatMs,
    expMs: exp,
    configFingerprint: fingerprint,
    state: { context: state['context'], status: state['status'], iteration: state['iteration'] },
  } as Checkpoint;
}

function parse(bytes: Buffer): Record<string, unknown> {
  try {
    const value: unknown = parseJson(bytes.toString('utf8'));
    if (isObject(value)) return value;
  } catch {
    // reported below
  }
  throw refused('invalid_token_payload', 'its payload is not a JSON object');
}

const isId = (value: unknown): value is string => typeof value === 'string' && idGrammar.test(value);
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/** Signs a checkpoint with `secret`. Deterministic: the same checkpoint gives the same token. */
export const encodeToken = (point: Checkpoint, secret: string): string => sign(toPayload(point), secret);

/**
 * The checkpoint of a token signed with any of `secrets`.
 *
 * @throws LanefoldError with the code of the first check that fails
 */
export const decodeToken = (token: unknown, secrets: readonly string[], expected: Expected): Checkpoint =>
  fromPayload(verify(token, secrets), expected);

const prefix = 'rt2.';

/** `rt2.<payload>.<HMAC-SHA256 of the payload's bytes>`, both base64url without padding. */
function sign(payload: Buffer, secret: string): string {
  return `${prefix}${payload.toString('base64url')}.${hmac(payload, secret).toString('base64url')}`;
}

/**
 * The payload of a token signed with one of the secrets.
 *
 * @throws LanefoldError `invalid_token_prefix`, `invalid_token_format`, `invalid_base64`, `invalid_token_signature`,
 * checked in this order
 */
function verify(token: unknown, secrets: readonly string[]): Buffer {
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

const hmac = (payload: Buffer | string, secret: string): Buffer =>
  createHmac('sha256', secret).update(payload).digest();

/**
 * The content of a checkpoint token: a run, its step and the fingerprint of its agent. It holds no text of the
 * conversation, because a token is signed but not encrypted.
 */
export interface Checkpoint {
  threadId: string;
  runId: string;
  requestId: string;
  agent: string;
  step: number;
  /** When the token was issued and when it expires, in ms since 1970; null: never. */
  iatMs: number;
  expMs: number | null;
  configFingerprint: string;
  state: {
    /** The lane the run is on. */
    context: string;
    status: string;
    iteration: number;
  };
}

/** The error for an invalid token; the code names the check that failed. */
const refused = (code: ErrorCode, why: string, details?: Record<string, unknown>): LanefoldError =>
  new LanefoldError(code, `The checkpoint token is invalid: ${why}.`, {
    hint: 'Create a new token with runs.checkpoint, or start a new run.',
    ...(details ? { details } : {}),
  });

/**
 * The secrets that sign and verify tokens: the given ones, else those in `LANEFOLD_TOKEN_SECRET`. Ignores blank ones.
 */
export function tokenSecrets(given: readonly string[] = []): readonly string[] {
  const own = given.filter((secret) => secret.trim() !== '');
  if (own.length > 0) return own;
  return listedIn('LANEFOLD_TOKEN_SECRET');
}

/**
 * The first secret, which signs. Without one this throws instead of generating a secret, because no other process would
 * accept its tokens, and neither would this one after a restart.
 *
 * @throws LanefoldError `missing_token_secret`
 */
export function signingSecret(secrets: readonly string[]): string {
  const [first] = secrets;
  if (first !== undefined) return first;
  throw new LanefoldError('missing_token_secret', 'No secret is configured to sign tokens.', {
    hint:
      'Set LANEFOLD_TOKEN_SECRET to a long random string (openssl rand -hex 32), the same in every process. Separate ' +
      'several with commas; the first one signs.',
  });
}

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

const eventPrefix = 'ev1.';

/** `ev1.<payload>.<HMAC-SHA256 of prefix and payload>`, both base64url. It is signed, not encrypted. */
export function signEvent({ tenant, event, keepMs, expiresAtMs, key }: EventGrant, secret: string): string {
  const fields = [tenant, event, keepMs, expiresAtMs, ...(key === undefined ? [] : [key])];
  const payload = `${eventPrefix}${Buffer.from(JSON.stringify(fields)).toString('base64url')}`;
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
  if (!payload.startsWith(eventPrefix) || matches.length === 0) throw invalidEventToken();
  const [tenant, event, keepMs, expiresAtMs, key] = parseJson(
    Buffer.from(payload.slice(eventPrefix.length), 'base64url').toString(),
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
