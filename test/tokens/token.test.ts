import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Checkpoint, decodeToken, encodeToken } from '../../src/base/tokens/token.ts';
import { cases } from '../support/cases.ts';

const secret = 'a secret of the tests';
const point: Checkpoint = {
  threadId: 'thread-1',
  runId: 'run-1',
  requestId: 'request-1',
  agent: 'support',
  step: 3,
  iatMs: 1_000,
  expMs: null,
  configFingerprint: 'print',
  state: { context: 'default', status: 'running', iteration: 2 },
};
const expected = { nowMs: 2_000, fingerprintOf: (agent: unknown) => (agent === 'support' ? 'print' : undefined) };
const decode = (token: unknown, secrets = [secret]) => decodeToken(token, secrets, expected);
const codeOf = (token: unknown, secrets?: string[]): unknown => {
  try {
    decode(token, secrets);
    return 'accepted';
  } catch (error) {
    return (error as { code?: unknown }).code ?? error;
  }
};

const payloadOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Record<string, unknown>;
/** A token with any payload and a valid signature. */
const signed = (payload: string | object, key = secret) => {
  const bytes = Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload));
  const signature = createHmac('sha256', key).update(bytes).digest('base64url');
  return `rt2.${bytes.toString('base64url')}.${signature}`;
};
const good = payloadOf(encodeToken(point, secret));

test('a token is rt2, the payload and its HMAC-SHA256, both base64url without padding', () => {
  const token = encodeToken(point, secret);
  expect(token).toBe(signed(good));
  expect(token).toMatch(/^rt2\.[\w-]+\.[\w-]{43}$/);
  expect(good).toEqual({
    v: 2,
    iss: 'lanefold/react',
    thread_id: 'thread-1',
    run_id: 'run-1',
    request_id: 'request-1',
    agent: 'support',
    step: 3,
    iat_ms: 1_000,
    exp_ms: null,
    config_fingerprint: 'print',
    state: { context: 'default', status: 'running', iteration: 2 },
  });
});

const id = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$/);
const anyPoint: fc.Arbitrary<Checkpoint> = fc.record({
  threadId: id,
  runId: id,
  requestId: id,
  agent: fc.constant('support'),
  step: fc.nat(),
  iatMs: fc.nat(),
  expMs: fc.option(fc.integer({ min: expected.nowMs, max: Number.MAX_SAFE_INTEGER })),
  configFingerprint: fc.constant('print'),
  state: fc.record({ context: id, status: fc.constantFrom('queued', 'running', 'completed'), iteration: fc.nat() }),
});

test('every checkpoint can be read from its token with any of the secrets', () => {
  fc.assert(
    fc.property(anyPoint, fc.string({ minLength: 1 }), fc.array(fc.string({ minLength: 1 })), (some, key, others) => {
      const token = encodeToken(some, key);
      expect(decode(token, [...others, key])).toEqual(some);
      expect(decode(token, [key, ...others])).toEqual(some);
    }),
  );
});

test('a token with any single byte changed is rejected', () => {
  fc.assert(
    fc.property(anyPoint, fc.nat(), fc.integer({ min: 1, max: 255 }), (some, at, change) => {
      const bytes = Buffer.from(encodeToken(some, secret), 'latin1');
      bytes[at % bytes.length]! ^= change;
      expect(codeOf(bytes.toString('latin1'))).toMatch(/^invalid_(token_(prefix|format|signature)|base64)$/);
    }),
    { numRuns: cases(300) },
  );
});

/** Where one token is accepted although a byte, of the last ones, was changed to one of the values. */
function acceptedWith(valuesOf: (byte: number) => Iterable<number>, last = Infinity): string[] {
  const token = Buffer.from(encodeToken(point, secret), 'latin1');
  const found: string[] = [];
  for (let at = Math.max(0, token.length - last); at < token.length; at++)
    for (const value of valuesOf(token[at]!)) {
      if (token[at] === value) continue;
      const changed = Buffer.from(token);
      changed[at] = value;
      if (codeOf(changed.toString('latin1')) === 'accepted') found.push(`byte ${at} as ${value}`);
    }
  return found;
}
const everyValue = () => Array(256).keys();

test('a token is rejected with any bit changed, and with any last byte, whose low bits are padding of base64', () => {
  expect(acceptedWith((byte) => [0, 1, 2, 3, 4, 5, 6, 7].map((bit) => byte ^ (1 << bit)))).toEqual([]);
  expect(acceptedWith(everyValue, 2)).toEqual([]);
});
test('a token is rejected with any value of any byte', { tags: 'slow' }, () => {
  expect(acceptedWith(everyValue)).toEqual([]);
});

test('a truncated or extended token is rejected', () => {
  const token = encodeToken(point, secret);
  for (let length = 0; length < token.length; length++) expect(codeOf(token.slice(0, length))).not.toBe('accepted');
  for (const more of ['A', '=', '.', ' ', '\n', '.x']) expect(codeOf(token + more)).not.toBe('accepted');
});

test('a new first secret signs, and the old one verifies until it is removed', () => {
  const old = encodeToken(point, 'old');
  expect(decode(old, ['new', 'old'])).toEqual(point);
  expect(codeOf(old, ['new'])).toBe('invalid_token_signature');
  expect(codeOf(old, [])).toBe('invalid_token_signature');
});

describe('an invalid token is rejected with the code of the first failing check', () => {
  const body = (changes: object) => signed({ ...good, ...changes });
  const state = (changes: object) => body({ state: { ...(good['state'] as object), ...changes } });
  const [, payload, signature] = encodeToken(point, secret).split('.');
  test.each<[string, unknown]>([
    ['invalid_token_prefix', undefined],
    ['invalid_token_prefix', 7],
    ['invalid_token_prefix', ''],
    ['invalid_token_prefix', `rt1.${payload}.${signature}`],
    ['invalid_token_prefix', `RT2.${payload}.${signature}`],
    ['invalid_token_format', `rt2.${payload}`],
    ['invalid_token_format', `rt2.${payload}.${signature}.x`],
    ['invalid_base64', `rt2.${payload}.${signature}=`],
    ['invalid_base64', `rt2.!${payload}.${signature}`],
    ['invalid_base64', `rt2.${payload}.+${signature!.slice(1)}`],
    ['invalid_token_signature', `rt2.${payload}.AAAA`],
    ['invalid_token_signature', `rt2..`],
    ['invalid_token_signature', signed(good, 'another secret')],
    ['invalid_token_payload', signed('no json')],
    ['invalid_token_payload', signed('[]')],
    ['invalid_token_payload', signed('null')],
    ['token_version_mismatch', body({ v: 1, iss: 'x', exp_ms: 1 })],
    ['token_version_mismatch', body({ v: '2' })],
    ['invalid_token_issuer', body({ iss: 'jido_ai/react', exp_ms: 1 })],
    ['token_expired', body({ exp_ms: 1_999, config_fingerprint: 'x' })],
    ['token_expired', body({ exp_ms: '9999999' })],
    ['token_expired', body({ exp_ms: 2_000.5 })],
    ['token_config_mismatch', body({ config_fingerprint: 'another', state: null })],
    ['token_config_mismatch', body({ agent: 'unknown' })],
    ['token_config_mismatch', body({ agent: 'unknown', config_fingerprint: undefined })],
    ['invalid_token_state', body({ state: null, run_id: '' })],
    ['invalid_token_state', body({ state: { status: 'running', thread: [] } })],
    ['missing_field', body({ run_id: '', state: { context: 7 } })],
    ['missing_field', body({ request_id: undefined })],
    ['missing_field', body({ thread_id: 7 })],
    ['invalid_status', state({ status: 'awaiting_llm', context: 7 })],
    ['invalid_context', body({ step: -1, state: { ...(good['state'] as object), context: {} } })],
    ['invalid_checkpoint_state', body({ step: -1 })],
    ['invalid_checkpoint_state', body({ step: 1.5 })],
    ['invalid_checkpoint_state', body({ run_id: '../x' })],
    ['invalid_checkpoint_state', state({ iteration: null })],
  ])('%s', (code, token) => {
    expect(codeOf(token)).toBe(code);
  });

  test('and names a missing field', () => {
    expect(() => decode(body({ request_id: '' }))).toThrow(
      expect.objectContaining({ code: 'missing_field', details: { name: 'request_id' } }),
    );
  });
});
