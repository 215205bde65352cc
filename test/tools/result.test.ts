import { types } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { renderResult, errorMessage } from '../../src/agent/tools/outcome.ts';
import { cleanJson, isStorable } from '../../src/base/checks/values.ts';
import { cases } from '../support/cases.ts';

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

  const shown: [value: unknown, content: string][] = [
    [undefined, 'null'],
    [null, 'null'],
    ['', ''],
    ['{"a":1}', '{"a":1}'],
    [{ a: undefined, b: [undefined] }, '{"b":[null]}'],
    [{}, '{}'],
    [Object.create(null), '{}'],
    [new Date(0), '"1970-01-01T00:00:00.000Z"'],
    [new URL('http://a.b/c'), '"http://a.b/c"'],
    [-0, '0'],
    [NaN, '"NaN"'],
    [{ a: -Infinity }, '{"a":"-Infinity"}'],
    [{ n: 7n, id: 2512292042121000001n }, '{"n":7,"id":"2512292042121000001"}'],
    [Object(2n ** 64n + 1n), '"18446744073709551617"'],
    [[Object(1), Object('a'), Object(false)], '[1,"a",false]'],
    [
      new Map<unknown, unknown>([
        ['a', 1],
        [{ b: 2n }, new Set([3])],
      ]),
      '[["a",1],[{"b":2},[3]]]',
    ],
    [new Map(), '[]'],
    [{ set: new Set(['x']) }, '{"set":["x"]}'],
    [new RangeError('too far'), '{"name":"RangeError","message":"too far"}'],
    [
      Object.assign(new Error('no', { cause: new TypeError('why') }), { code: 'E1' }),
      '{"name":"Error","message":"no","cause":{"name":"TypeError","message":"why"},"code":"E1"}',
    ],
    [
      new AggregateError([new Error('a')], 'all'),
      '{"name":"AggregateError","message":"all","errors":[{"name":"Error","message":"a"}]}',
    ],
    [new Uint8Array([1, 2]), '[1,2]'],
    [new Float32Array([0.5, NaN]), '[0.5,"NaN"]'],
    [new BigInt64Array([-9007199254740993n, 1n]), '["-9007199254740993",1]'],
    [new Uint8Array([1, 2, 3]).buffer, '[1,2,3]'],
    [new DataView(new Uint8Array([1, 2, 3]).buffer, 1), '[2,3]'],
    [Buffer.from('a'), '{"type":"Buffer","data":[97]}'],
    [/a+/gi, '"/a+/gi"'],
    [new Headers({ a: 'b' }), '[["a","b"]]'],
    [new URLSearchParams('a=1&a=2'), '[["a","1"],["a","2"]]'],
    [
      new (class Point {
        x = 1;
        #y = 2;
        y() {
          return this.#y;
        }
      })(),
      '{"x":1}',
    ],
    [JSON.parse('{"__proto__":{"a":1},"b":[1]}'), '{"__proto__":{"a":1},"b":[1]}'],
  ];
  test.each(shown.map(([value, content]) => [content, value] as const))(
    '%s shows what was returned',
    (content, value) => {
      expect(renderResult(value)).toEqual({ status: 'ok', content });
    },
  );

  test('what is shown otherwise keeps the keys beside it, whatever they are called', () => {
    const value = JSON.parse('{"__proto__":{"a":1},"b":1}') as Record<string, unknown>;
    value['b'] = 1n;
    value['c'] = new Map([['__proto__', 1]]);
    expect(renderResult(value).content).toBe('{"__proto__":{"a":1},"b":1,"c":[["__proto__",1]]}');
  });

  const notNothing = fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withTypedArray: true,
    withBoxedValues: true,
    withSparseArray: true,
    withNullPrototype: true,
  });
  /** How many values besides objects a value has, where undefined is as good as absent. */
  const leaves = (value: unknown): number => {
    if (value === undefined) return 0;
    if (typeof value !== 'object' || value === null) return 1;
    if (types.isBoxedPrimitive(value) || types.isDate(value)) return 1;
    const items =
      value instanceof Map
        ? [...value].flat()
        : value instanceof Set || ArrayBuffer.isView(value)
          ? [...(value as Set<unknown>)]
          : Object.values(value);
    return items.reduce<number>((sum, item) => sum + leaves(item), 0);
  };
  const shownLeaves = (value: unknown): number =>
    typeof value === 'object' && value !== null
      ? Object.values(value).reduce<number>((sum, item) => sum + shownLeaves(item), 0)
      : 1;

  test('never loses a value silently: the text has them all, or the result is refused with a path', () => {
    fc.assert(
      fc.property(notNothing, (value) => {
        const { status, content, error } = renderResult(value, 10_000_000);
        if (status === 'error') return /: \$/.test(error!.message);
        return typeof value === 'string' || value === undefined || shownLeaves(JSON.parse(content)) >= leaves(value);
      }),
      { numRuns: cases(200) },
    );
  });

  test('a value nested up to 200 levels is shown byte for byte, a deeper one refused', () => {
    const nested = fc
      .tuple(fc.integer({ min: 1, max: 230 }), fc.jsonValue({ maxDepth: 0 }), fc.boolean())
      .map(([levels, leaf, list]) => {
        let value: unknown = leaf;
        for (let i = 0; i < levels; i++) value = list ? [value] : { a: value };
        return { levels, value };
      });
    fc.assert(
      fc.property(nested, ({ levels, value }) => {
        const { content, error } = renderResult(value);
        if (levels <= 200) expect(content).toBe(JSON.stringify(value));
        else
          expect(error?.message).toMatch(
            /^The tool returned a value that is not JSON: \$[.[].*nested deeper than 200 levels$/,
          );
      }),
    );
  });

  const circular: Record<string, unknown> = {};
  circular.self = circular;
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  test.each([
    ['a circle', circular, '$.self is circular'],
    ['a function', () => 1, '$ is a function'],
    ['a method', { a: [{ b() {} }] }, '$.a[0].b is a function'],
    ['a symbol', { a: Symbol('x') }, '$.a is a symbol'],
    ['keys that are symbols', { a: { [Symbol('x')]: 1 } }, '$.a is an object whose only keys are symbols'],
    [
      'private state',
      {
        a: new (class Secret {
          #x = 1;
          x() {
            return this.#x;
          }
        })(),
      },
      '$.a is a Secret, whose state JSON cannot show',
    ],
    ['a promise', [Promise.resolve(1)], '$[0] is a promise, which the tool did not await'],
    ['a weak map', new WeakMap(), '$ is a WeakMap, whose state JSON cannot show'],
    ['an iterator', { rows: new Map([[1, 2]]).values() }, '$.rows is a'],
    [
      'an endless iterable',
      new (class Endless {
        *[Symbol.iterator]() {
          for (;;) yield 1;
        }
      })(),
      '$ is a Endless with more than',
    ],
    ['an invalid date', { at: new Date(NaN) }, '$.at is an invalid date'],
    ['a response', new Response('x'), '$ is a Response'],
    [
      'a throwing toJSON',
      {
        toJSON() {
          throw new Error('no');
        },
      },
      'no',
    ],
    ['a toJSON of undefined', { toJSON: () => undefined }, '$ is an object whose toJSON returns nothing'],
    ['a revoked proxy', revoked.proxy, ''],
    [
      'endless nesting',
      (() => {
        let deep: unknown = 1;
        for (let i = 0; i < 200_000; i++) deep = [deep];
        return deep;
      })(),
      'is nested deeper than 200 levels',
    ],
  ])('%s is an invalid_result', (_, value, why) => {
    const { status, error, content } = renderResult(value);
    expect(status).toBe('error');
    expect(error?.message).toContain(why);
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
