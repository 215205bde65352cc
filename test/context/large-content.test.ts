import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shorten, shortenMessage } from '../../src/agent/context/large-content.ts';

const pieces = fc.constantFrom('a', 'é', '漢', '😀', '\n', '"', ' ', 'word ');
const texts = fc
  .array(pieces, { minLength: 1, maxLength: 40 })
  .chain((some) => fc.integer({ min: 1, max: 2_000 }).map((times) => some.join('').repeat(times)));
const limits = fc.integer({ min: 4_096, max: 20_000 });

test('a text over the limit shows beginning and end in fewer bytes, and says truly how to read the rest', () => {
  let shortened = 0;
  fc.assert(
    fc.property(texts, limits, (text, limit) => {
      const short = shorten(text, limit);
      if (Buffer.byteLength(text) <= limit) return void expect(short).toBeUndefined();
      shortened++;
      const characters = [...text];
      expect(short!.ref).toEqual({ id: short!.content.id, chars: characters.length, bytes: Buffer.byteLength(text) });
      expect(short!.content).toEqual({
        id: `c_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`,
        text,
      });
      expect(Buffer.byteLength(short!.text)).toBeLessThan(limit);
      expect(short!.text.isWellFormed()).toBe(true);
      const [, head, left, id, offset, tail] =
        /^([^]*)\n\n\[(\d+) characters omitted; call read_content\(\{"id":"(c_\w+)","offset":(\d+)\}\) to read on\]\n\n([^]*)$/.exec(
          short!.text,
        )!;
      expect(id).toBe(short!.content.id);
      expect(head).toBe(characters.slice(0, Number(offset)).join(''));
      expect(tail).toBe(characters.slice(Number(offset) + Number(left)).join(''));
    }),
    { numRuns: 200 },
  );
  expect(shortened).toBeGreaterThan(20);
});

test('parts of a message are shortened one by one; other parts and the refs of the caller stay', () => {
  const file = { type: 'file', mediaType: 'image/png', data: 'A'.repeat(9_000) };
  const message = {
    role: 'user',
    content: [{ type: 'text', text: 'x'.repeat(9_000) }, file, { type: 'text', text: 'short' }],
    refs: { ticket: 7 },
  };
  const { message: short, contents } = shortenMessage(message, 4_096);
  const [text, ...others] = short.content as { text: string }[];
  expect(text!.text.length).toBeLessThan(4_096);
  expect(others).toEqual([file, { type: 'text', text: 'short' }]);
  expect(short.refs).toEqual({ ticket: 7, contents: [{ id: contents[0]!.id, chars: 9_000, bytes: 9_000 }] });
  expect(message.refs).toEqual({ ticket: 7 });
});
