import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { renderResult } from '../../src/tools/result.ts';
import { errorMessage } from '../../src/tools/error-message.ts';
import { cleanJson, isStorable } from '../../src/checks/text.ts';

describe('renderResult', () => {
  test('renders any JSON value so that it parses back, and a string unchanged', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'grapheme' }), (value) => {
        const { content, ...rest } = renderResult(value);
        expect(rest).toEqual({ status: 'ok' });
        if (typeof value === 'string') expect(content).toBe(value);
        else expect(content).toBe(JSON.stringify(value));
      }),
    );
  });

  test('renders unstorable text so that it parses back to the cleaned value', () => {
    const unit = fc.constantFrom('a', '\0', '\ud800', '\udc00', '\\', 'u0000', '"', '😀');
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: unit }), (value) => {
        const clean = cleanJson(value);
        const rendered = renderResult(value);
        expect(rendered.cleaned ?? false).toBe(clean.cleaned);
        expect(isStorable(rendered.content)).toBe(true);
        const seen: unknown = typeof value === 'string' ? rendered.content : JSON.parse(rendered.content);
        expect(JSON.stringify(seen)).toBe(JSON.stringify(clean.value));
      }),
    );
  });

  test('never throws and always returns storable text', () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withDate: true, withMap: true }), (value) => {
        const rendered = renderResult(value);
        expect(isStorable(rendered.content)).toBe(true);
        expect(rendered.status === 'error').toBe(rendered.error !== undefined);
      }),
    );
  });

  test.each([
    [undefined, 'null'],
    [null, 'null'],
    ['', ''],
    ['{"a":1}', '{"a":1}'],
    [NaN, 'null'],
    [{ a: Infinity, b: undefined, c: () => 1 }, '{"a":null}'],
    [new Date(0), '"1970-01-01T00:00:00.000Z"'],
  ])('%j is shown as %s', (value, content) => {
    expect(renderResult(value)).toEqual({ status: 'ok', content });
  });

  const circular: Record<string, unknown> = {};
  circular.self = circular;
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  test.each([
    ['a BigInt', { n: 1n }],
    ['a circle', circular],
    ['a function', () => 1],
    ['a symbol', Symbol('x')],
    [
      'a throwing toJSON',
      {
        toJSON() {
          throw new Error('no');
        },
      },
    ],
    ['a toJSON of undefined', { toJSON: () => undefined }],
    ['a revoked proxy', revoked.proxy],
    [
      'endless nesting',
      (() => {
        let deep: unknown = 1;
        for (let i = 0; i < 200_000; i++) deep = [deep];
        return deep;
      })(),
    ],
  ])('%s is an invalid_result', (_, value) => {
    const { status, error, content } = renderResult(value);
    expect(status).toBe('error');
    expect(error).toMatchObject({ type: 'invalid_result', retryable: false });
    expect(JSON.parse(content)).toEqual({ ok: false, error });
  });

  test('applies the limit in UTF-8 bytes, inclusive', () => {
    expect(renderResult('é'.repeat(5), 10).status).toBe('ok');
    expect(renderResult('é'.repeat(6), 10).error).toEqual({
      type: 'result_too_large',
      message: 'The result has 12 bytes; the limit is 10. Request less data.',
      retryable: false,
    });
    expect(renderResult('x'.repeat(262_144)).status).toBe('ok');
    expect(renderResult('x'.repeat(262_145)).error?.message).toContain('262145');
    expect(renderResult([1, 2, 3], 6).error?.message).toContain('7 bytes');
  });

  test('replaces NUL and lone surrogates, including inside JSON', () => {
    expect(renderResult('a\0b\ud800')).toEqual({ status: 'ok', content: 'a\ufffdb\ufffd', cleaned: true });
    expect(renderResult({ a: '\0' })).toEqual({ status: 'ok', content: '{"a":"\ufffd"}', cleaned: true });
    expect(renderResult({ a: '\\u0000' })).toEqual({ status: 'ok', content: '{"a":"\\\\u0000"}' });
  });
});

describe('errorMessage', () => {
  test('has exactly these keys in this order', () => {
    const { content } = errorMessage({ retryable: true, message: 'slow', type: 'timeout' });
    expect(content).toBe('{"ok":false,"error":{"type":"timeout","message":"slow","retryable":true}}');
  });

  test('cuts the message between characters and cleans it', () => {
    expect(errorMessage({ type: 't', message: 'x'.repeat(3_000), retryable: false }).error?.message).toHaveLength(
      2_000,
    );
    const split = errorMessage({ type: 't', message: 'x'.repeat(1_999) + '😀', retryable: false });
    expect(split.error?.message).toBe('x'.repeat(1_999));
    expect(split.cleaned).toBeUndefined();
    const dirty = errorMessage({ type: 't', message: 'a\0', retryable: false });
    expect(dirty).toMatchObject({ cleaned: true, error: { message: 'a\ufffd' } });
  });
});
