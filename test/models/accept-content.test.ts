import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { acceptContent, type ContentInput } from '../../src/agent/models/accept-content.ts';
import { toParts } from '../../src/agent/models/parts.ts';

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAYAAAC56t6BAAAAAElFTkSuQmCC';
const bytes = Uint8Array.from(Buffer.from(png, 'base64'));
const stored = { type: 'file', media_type: 'image/png', data: png };
const url = 'https://example.com/a.jpg?size=large';
const linked = { type: 'file', media_type: 'image/jpeg', url };
const low = { provider_metadata: { openai: { imageDetail: 'low' } } };
const accept = (part: unknown) => acceptContent([part] as ContentInput);

describe('what callers give is stored as the file part of the log', () => {
  test.each<[string, unknown, object]>([
    ['image_url with a data URL', { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }, stored],
    ['image_url with a URL', { type: 'image_url', image_url: { url } }, linked],
    ['image_url with a detail', { type: 'image_url', image_url: { url, detail: 'low' } }, { ...linked, ...low }],
    ['image_url as a string', { type: 'image_url', image_url: url }, linked],
    [
      'image_url without a name',
      { type: 'image_url', image_url: { url: 'https://example.com/7' } },
      { type: 'file', media_type: 'image/*', url: 'https://example.com/7' },
    ],
    ['image with bytes', { type: 'image', image: bytes }, stored],
    ['image with a Buffer', { type: 'image', image: Buffer.from(bytes) }, stored],
    ['image with an ArrayBuffer', { type: 'image', image: bytes.buffer }, stored],
    ['image with part of a buffer', { type: 'image', image: new Uint8Array([7, ...bytes]).subarray(1) }, stored],
    ['image with base64', { type: 'image', image: png }, stored],
    ['image with a data URL', { type: 'image', image: `data:;base64,${png}` }, stored],
    ['image with a media type of its own', { type: 'image', image: png, mediaType: 'image/png' }, stored],
    ['image with a URL', { type: 'image', image: new URL(url) }, linked],
    ['image with a tagged URL', { type: 'image', image: { type: 'url', url: new URL(url) } }, linked],
    [
      'image with options of a provider',
      { type: 'image', image: url, providerOptions: low.provider_metadata },
      { ...linked, ...low },
    ],
    ['file with bytes', { type: 'file', data: bytes, mediaType: 'image/png' }, stored],
    ['file with a wildcard', { type: 'file', data: { type: 'data', data: png }, mediaType: 'image/*' }, stored],
    [
      'file with a URL',
      { type: 'file', data: new URL('https://example.com/a.pdf'), mediaType: 'application/pdf', filename: 'a.pdf' },
      { type: 'file', media_type: 'application/pdf', url: 'https://example.com/a.pdf', filename: 'a.pdf' },
    ],
    [
      'OpenAI’s file',
      { type: 'file', file: { filename: 'a.txt', file_data: 'data:text/plain,a%20b' } },
      { type: 'file', media_type: 'text/plain', data: 'YSBi', filename: 'a.txt' },
    ],
  ])('%s', (_, given, expected) => expect(accept(given)).toEqual([expected]));
});

test('text, and parts as the log has them, stay as they are', () => {
  const parts = [{ type: 'text', text: 'a' }, stored, linked, { ...stored, own: { note: 1 } }];
  expect(acceptContent(parts)).toEqual(parts);
  expect(acceptContent('text')).toBe('text');
});

test('what is accepted can be sent, and is accepted again as it is', () => {
  const source = fc.oneof(
    fc.uint8Array({ minLength: 1 }),
    fc.uint8Array({ minLength: 1 }).map((data) => Buffer.from(data).toString('base64')),
    fc.webUrl(),
    fc.webUrl().map((given) => new URL(given)),
  );
  fc.assert(
    fc.property(source, fc.constantFrom('image', 'file'), (given, type) => {
      const part = { type, [type === 'image' ? 'image' : 'data']: given, mediaType: 'image/webp' };
      const once = accept(part);
      expect(acceptContent(once as ContentInput)).toEqual(once);
      expect(toParts(JSON.parse(JSON.stringify(once)))).toHaveLength(1);
    }),
    { numRuns: 30 },
  );
});

describe('a part that no model takes is refused', () => {
  test.each<[string, unknown, RegExp]>([
    ['image_url without a url', { type: 'image_url', image_url: {} }, /has no url/],
    ['image_url that is null', { type: 'image_url', image_url: null }, /has no url/],
    ['a local file', { type: 'image_url', image_url: { url: 'file:///etc/passwd' } }, /neither http\(s\): nor data:/],
    ['an unknown detail', { type: 'image_url', image_url: { url, detail: 'huge' } }, /the unknown detail "huge"/],
    ['a data URL of text', { type: 'image_url', image_url: { url: 'data:text/plain;base64,YQ==' } }, /text\/plain/],
    ['a data URL without data', { type: 'image_url', image_url: { url: 'data:image/png;base64' } }, /without data/],
    ['an empty data URL', { type: 'image_url', image_url: { url: 'data:image/png;base64,' } }, /is empty/],
    ['a broken escape', { type: 'image_url', image_url: { url: 'data:image/svg+xml,%E0%A4%A' } }, /cannot be decoded/],
    ['base64 with line breaks', { type: 'image', image: `${png.slice(0, 8)}\n${png.slice(8)}` }, /standard base64/],
    ['base64 for URLs', { type: 'image', image: 'ab_-' }, /standard base64/],
    ['base64 without its padding', { type: 'file', data: 'YQ', media_type: 'image/png' }, /standard base64/],
    ['base64 behind its padding', { type: 'image', image: 'YQ==YQ==' }, /standard base64/],
    ['no bytes', { type: 'image', image: new Uint8Array() }, /is empty/],
    ['bytes of no known image', { type: 'image', image: new Uint8Array([1, 2, 3]) }, /not a known image format/],
    ['an image of another media type', { type: 'image', image: png, mediaType: 'application/pdf' }, /application\/pdf/],
    ['an image without anything', { type: 'image' }, /neither bytes, base64 nor a URL/],
    ['an uploaded file', { type: 'image', image: { openai: 'file-7' } }, /neither bytes, base64 nor a URL/],
    ['OpenAI’s id of a file', { type: 'file', file: { file_id: 'file-7' } }, /ids of uploaded files/],
    ['a file without a media type', { type: 'file', data: bytes }, /no mediaType/],
    ['a file without data', { type: 'file', media_type: 'image/png' }, /neither data nor url/],
    [
      'a stored data URL that is broken',
      { type: 'file', media_type: 'image/png', url: 'data:image/png;base64,@@' },
      /standard base64/,
    ],
    [
      'a detail no model knows',
      { type: 'image', image: png, providerOptions: { openai: { imageDetail: 'medium' } } },
      /the unknown detail "medium"/,
    ],
    ['a relative URL', { type: 'file', media_type: 'image/png', url: 'a.png' }, /not an absolute URL/],
  ])('%s', (_, given, message) => {
    expect(() => accept(given)).toThrowError(
      expect.objectContaining({ code: 'invalid_input', message: expect.stringMatching(message) }),
    );
  });
});
