import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { asLine, isExact, maxDepth, parseJson, readJson } from '../../src/base/common/json.ts';

const nested = (levels: number, open = '[', close = ']') => open.repeat(levels) + close.repeat(levels);

describe('a number', () => {
  test.each([
    ['9007199254740991', true],
    ['9007199254740992', true],
    ['9007199254740993', false],
    ['-9007199254740993', false],
    ['2512292042121000001', false],
    ['9007199254740993.0', false],
    ['9007199254740993e0', false],
    // a double, but JavaScript writes it as 12345678901234567000
    ['12345678901234567168', false],
    ['12345678901234567000', true],
    ['1e21', true],
    ['6.02214076e23', true],
    ['1e308', true],
    ['1e309', false],
    ['1e999', false],
    ['1e-400', false],
    ['5e-324', true],
    ['0e999', true],
    ['-0', true],
    ['1.0', true],
    ['0.1', true],
    ['0.10000000000000001', true],
    ['0.1000000000000000055511151231257827', true],
    ['0.1000000000000000000000000000000000000001', false],
    ['3.14159265358979323846', false],
    ['0.30000000000000004', true],
  ])('%s is exact: %s', (token, exact) => {
    expect(isExact(token)).toBe(exact);
    expect(readJson(`{"a":[0,{"n":${token}}]}`)).toEqual(
      exact
        ? { ok: true, value: { a: [0, { n: Number(token) }] } }
        : {
            ok: false,
            kind: 'number',
            path: '$.a[1].n',
            problem: expect.stringContaining(`The number ${token} at $.a[1].n`),
          },
    );
    expect(parseJson(`[${token}]`)).toEqual([exact ? Number(token) : token]);
  });

  const digits = (max: number) => fc.stringMatching(new RegExp(`^[0-9]{1,${max}}$`));
  const token = fc
    .tuple(
      fc.boolean(),
      fc.oneof(fc.constant('0'), digits(40)),
      fc.option(digits(40)),
      fc.option(fc.integer({ min: -400, max: 400 })),
    )
    .map(([minus, whole, fraction, exponent]) =>
      [
        minus ? '-' : '',
        whole.replace(/^0+(?=\d)/, ''),
        fraction === null ? '' : `.${fraction}`,
        exponent === null ? '' : `e${exponent}`,
      ].join(''),
    );

  /** The value of a decimal as a fraction of whole numbers. */
  const exactly = (text: string): [bigint, bigint] => {
    const [, sign, whole, fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/.exec(text)!;
    const shift = BigInt(exponent) - BigInt(fraction.length);
    const value = BigInt(`${sign}${whole}${fraction}`);
    return shift >= 0n ? [value * 10n ** shift, 1n] : [value, 10n ** -shift];
  };
  const equal = (a: string, b: string) => {
    const [[an, ad], [bn, bd]] = [exactly(a), exactly(b)];
    return an * bd === bn * ad;
  };

  test('survives unchanged, is the same double in more digits, or is refused', () => {
    fc.assert(
      fc.property(token, (text) => {
        const read = readJson(`[${text}]`);
        if (!read.ok) {
          expect(parseJson(`[${text}]`)).toEqual([text]);
          return read.path === '$[0]';
        }
        const again = JSON.stringify((read.value as number[])[0]);
        return (
          equal(text, again) ||
          equal(text, Number(text).toPrecision(text.replace(/^-?[0.]*|e.*$|\./gi, '').replace(/0+$/, '').length))
        );
      }),
      { numRuns: 2_000 },
    );
  });

  test('that JavaScript writes is exact', () => {
    fc.assert(fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => isExact(String(value))));
  });
});

test('JSON without such numbers is read as JSON.parse reads it, whatever its strings contain', () => {
  const odd = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('9007199254740993', '\\', '"', '\\"1e999', ',1e999', '{"a":1e999}'),
  );
  const json = fc.letrec<{ any: unknown }>((tie) => ({
    any: fc.oneof(
      odd,
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (Object.is(n, -0) ? 0 : n)),
      fc.constantFrom(true, null),
      fc.array(tie('any'), { maxLength: 4 }),
      fc.dictionary(odd, tie('any'), { maxKeys: 4 }),
    ),
  })).any;
  fc.assert(
    fc.property(json, fc.constantFrom(undefined, 2), (value, space) => {
      const text = JSON.stringify(value, null, space);
      expect(readJson(text)).toEqual({ ok: true, value: JSON.parse(text) as unknown });
      expect(parseJson(text)).toEqual(JSON.parse(text));
    }),
  );
});

test('a text that JSON.parse refuses is refused, and never mended', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'"\\[]{},:-.0123456789eE+ '), maxLength: 60 }), (text) => {
      let valid = true;
      try {
        JSON.parse(text);
      } catch {
        valid = false;
      }
      const read = readJson(text);
      expect(read.ok || read.path !== undefined).toBe(valid);
      if (!valid) expect(() => parseJson(text)).toThrow(SyntaxError);
    }),
    {
      numRuns: 5_000,
      examples: [['[09007199254740993]'], ['9007199254740993.'], ['-9007199254740993-1'], ['"9007199254740993']],
    },
  );
});

test('200 levels are read, 201 are refused, and so are two million, without recursion', () => {
  const brackets = '"' + '['.repeat(500) + '\\"' + '{'.repeat(500) + '"';
  for (const [open, close] of [
    ['[', ']'],
    ['{"a":', '}'],
  ] as const) {
    const at = (levels: number) => open.repeat(levels - 1) + `[${brackets}]` + close.repeat(levels - 1);
    expect(readJson(at(maxDepth)).ok).toBe(true);
    expect(readJson(at(maxDepth + 1))).toEqual({
      ok: false,
      kind: 'depth',
      problem: 'The value is nested deeper than 200 levels.',
    });
  }
  expect(readJson(nested(2_000_000)).ok).toBe(false);
  expect(readJson(nested(300), 300).ok).toBe(true);
  // siblings are not levels
  expect(readJson(`[${Array(1_000).fill('[]').join(',')}]`).ok).toBe(true);
});

test('a long text is read in linear time, also if every character makes the reader look twice', () => {
  const half = 2 ** 19;
  for (const text of [
    '"' + '1'.repeat(half) + '"',
    `[${'1e9,'.repeat(half / 4)}1]`,
    '"' + '1e999 '.repeat(half / 6) + '"',
    '1'.repeat(half),
    '"' + '\\"'.repeat(half / 2) + '1e999"',
  ])
    expect(readJson(text).ok || text.length === half).toBe(true);
});

test('a line of a stream contains no character that ends lines elsewhere', () => {
  const text = JSON.stringify({ 'k\u2028': 'a\u2029b\u0085c\n' });
  expect(asLine(text)).toBe('{"k\\u2028":"a\\u2029b\\u0085c\\n"}');
  expect(JSON.parse(asLine(text))).toEqual(JSON.parse(text));
});

test('a number is found wherever it stands in a text', () => {
  const place = fc.tuple(
    fc.constantFrom('', ' ', '  ', '\n\t'),
    fc.array(fc.integer({ min: 0, max: 999 }), { maxLength: 4 }),
  );
  const bad = fc.constantFrom(
    '9007199254740993',
    '-9007199254740993',
    '1e999',
    '-1.5E+400',
    '1e-400',
    '0.12345678901234567891',
  );
  fc.assert(
    fc.property(place, bad, ([space, before], number) => {
      const list = [...before.map(String), number].join(`${space},${space}`);
      expect(readJson(`[${space}${list}${space}]`)).toMatchObject({ ok: false, path: `$[${before.length}]` });
      expect(readJson(`{"${'x'.repeat(before.length)}":${space}${number}}`)).toMatchObject({ ok: false });
      expect(readJson(number)).toMatchObject({ ok: false, path: '$' });
    }),
  );
});
