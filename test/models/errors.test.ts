import { APICallError, JSONParseError } from '@ai-sdk/provider';
import { describe, expect, it } from 'vitest';
import { classify } from '../../src/agent/models/classify-error.ts';
import { ModelError } from '../../src/agent/models/model-error.ts';
import { outcomeOf } from '../../src/agent/models/failure.ts';
import { LanefoldError } from '../../src/base/errors.ts';
import { isStorable } from '../../src/base/checks/values.ts';

const api = (fields: Partial<ConstructorParameters<typeof APICallError>[0]>) =>
  new APICallError({ message: 'failed', url: 'http://x', requestBodyValues: {}, ...fields });

describe('retryable', () => {
  it.each([
    [408, true],
    [409, true],
    [429, true],
    [500, true],
    [529, true],
    [400, false],
    [401, false],
    [404, false],
    [422, false],
  ])('HTTP %i: %s', (statusCode, retryable) => {
    expect(classify(api({ statusCode }), 'llm_request')).toMatchObject({
      statusCode,
      retryable,
      errorType: 'llm_request',
    });
  });

  it.each([
    ['ECONNRESET', Object.assign(new Error('x'), { code: 'ECONNRESET' })],
    ['fetch failed', new TypeError('fetch failed')],
    [
      'a cause deep down',
      new Error('x', { cause: new Error('y', { cause: Object.assign(new Error(), { code: 'UND_ERR_SOCKET' }) }) }),
    ],
    ['terminated', new TypeError('terminated')],
    ['a plain overloaded object', { type: 'overloaded_error', message: 'x' }],
    ['a plain object with a numeric code', { code: 503, message: 'x' }],
    ['isRetryable', api({ isRetryable: true })],
  ])('%s', (_, error) => {
    expect(classify(error, 'llm_stream').retryable).toBe(true);
  });

  it.each([
    ['a bug', new TypeError('undefined is not a function')],
    ['an empty account', api({ statusCode: 429, data: { error: { code: 'insufficient_quota' } } })],
    ['a plain bad request', { type: 'invalid_request_error', message: 'x' }],
    ['nothing', undefined],
  ])('not %s', (_, error) => {
    expect(classify(error, 'llm_stream').retryable).toBe(false);
  });
});

describe('retry after', () => {
  const now = Date.parse('2025-01-01T00:00:00Z');
  it.each([
    [{ 'retry-after-ms': '1500', 'retry-after': '9' }, 1500],
    [{ 'retry-after': '2' }, 2000],
    [{ 'Retry-After': '0.5' }, 500],
    [{ 'retry-after': 'Wed, 01 Jan 2025 00:00:07 GMT' }, 7000],
    [{ 'retry-after': 'Tue, 31 Dec 2024 23:59:00 GMT' }, 0],
    [{ 'retry-after': 'soon' }, undefined],
    [{}, undefined],
  ])('%j is %s ms', (responseHeaders, ms) => {
    const error = classify(api({ statusCode: 429, responseHeaders: responseHeaders as never }), 'llm_request', now);
    expect(error.retryAfterMs).toBe(ms);
  });
});

describe('the message', () => {
  it.each([
    'Incorrect API key provided: sk-proj-abcdef1234567890',
    'key AIzaSyA1234567890abcdefgh is bad',
    'Authorization: Bearer abcdef123456',
    'GET https://x/y?key=abcdef123456&a=1',
    '{"x-api-key": "abcdef123456"}',
  ])('contains no key: %s', (message) => {
    expect(classify(new Error(message), 'llm_request').message).not.toMatch(/abcdef1234|A1234567890/);
  });

  it('contains no secret of this process', () => {
    process.env.SOME_ODD_API_KEY = 'odd~secret~value';
    try {
      expect(classify(new Error('no odd~secret~value here'), 'llm_request').message).toBe('no [redacted] here');
    } finally {
      delete process.env.SOME_ODD_API_KEY;
    }
  });

  it('is storable and at most 2,000 characters', () => {
    const { message } = classify(new Error('\u0000' + '😀'.repeat(5000)), 'llm_request');
    expect(message.length).toBe(2000);
    expect(isStorable(message)).toBe(true);
  });

  it('shows a body that was not JSON', () => {
    const error = api({ message: 'Bad Gateway', statusCode: 502, responseBody: '<h1>upstream down</h1>' });
    expect(classify(error, 'llm_request').message).toBe('Bad Gateway (HTTP 502): <h1>upstream down</h1>');
  });
});

it('keeps a ModelError unchanged', () => {
  const error = new ModelError('x', { errorType: 'timeout', retryable: true });
  expect(classify(error, 'llm_stream')).toBe(error);
});

describe('each failure is one kind, from which follows what a chain and a circuit make of it', () => {
  const cut = new JSONParseError({ text: '{', cause: new Error('cut') });
  const timeout = Object.assign(new Error('x'), { name: 'TimeoutError' });
  it.each([
    ['HTTP 429', api({ statusCode: 429 }), 'rate_limited', 'rate_limited'],
    ['a limit inside a stream', { type: 'rate_limit_error', message: 'x' }, 'rate_limited', 'rate_limited'],
    ['an empty account', api({ statusCode: 429, data: { error: { code: 'insufficient_quota' } } }), 'auth', 'auth'],
    ['HTTP 403', api({ statusCode: 403 }), 'auth', 'auth'],
    ['a refused key inside a stream', { type: 'authentication_error', message: 'x' }, 'auth', 'auth'],
    ['an unknown model', api({ statusCode: 404 }), 'auth', 'ok'],
    ['HTTP 529', api({ statusCode: 529 }), 'overloaded', 'overloaded'],
    ['an overload inside a stream', { type: 'overloaded_error', message: 'x' }, 'overloaded', 'overloaded'],
    ['HTTP 409', api({ statusCode: 409 }), 'overloaded', 'ok'],
    ['a lost connection', new TypeError('fetch failed'), 'overloaded', 'connection'],
    ['a stream that is cut', cut, 'overloaded', 'connection'],
    ['silence', timeout, 'timeout', 'timeout'],
    ['a long request', api({ statusCode: 413 }), 'context_too_long', 'ok'],
    ['HTTP 400', api({ statusCode: 400 }), undefined, 'ok'],
    ['no key in this process', new LanefoldError('missing_provider_key', 'x'), 'auth', undefined],
    ['wrong settings', new LanefoldError('unknown_model', 'x'), undefined, undefined],
    ['a bug', new TypeError('undefined is not a function'), undefined, undefined],
  ] as const)('%s', (_, error, reason, circuit) => {
    const failed = classify(error, 'llm_request');
    const outcome = outcomeOf(failed);
    expect([failed.reason, typeof outcome === 'object' ? outcome.failure : outcome]).toEqual([reason, circuit]);
    // what hides secrets in the message keeps the rest
    expect(new ModelError('hidden', failed)).toMatchObject({ kind: failed.kind, retryable: failed.retryable });
  });
});
