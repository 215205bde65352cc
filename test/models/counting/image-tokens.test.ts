import { deflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { ContentPart } from '../../../src/agent/context/message.ts';
import { createCounting } from '../../../src/agent/models/counting.ts';
import { imageTokens, type Detail } from '../../../src/agent/models/file-tokens.ts';
import { heuristicTokens } from '../../../src/agent/policy/estimate.ts';

describe('the formulas give the examples of their pages', () => {
  test.each<[model: string, width: number, height: number, detail: Detail, tokens: number]>([
    // developers.openai.com/api/docs/guides/images-vision
    ['openai:gpt-4o', 1024, 1024, 'high', 765],
    ['openai:gpt-4.1', 2048, 4096, 'high', 1_105],
    ['openai:gpt-4o', 4096, 8192, 'low', 85],
    ['openai:gpt-4o', 300, 200, 'auto', 255],
    ['openai:gpt-4o-mini', 1024, 1024, 'high', 2_833 + 4 * 5_667],
    ['openai:o3', 1024, 1024, 'high', 75 + 4 * 150],
    ['openai:gpt-5', 1024, 1024, 'high', 70 + 4 * 140],
    ['openai:gpt-4.1-mini', 1024, 1024, 'high', 1_659], // 1,024 patches × 1.62
    ['openai:gpt-5-mini', 1800, 2400, 'high', 2_353], // 1,452 patches × 1.62
    ['openai:gpt-5-nano', 1800, 2400, 'high', 3_572], // × 2.46
    ['openai:o4-mini', 1800, 2400, 'high', 2_498], // × 1.72
    ['openai:gpt-5.4', 1024, 1024, 'auto', 1_229], // 1,024 patches × 1.2
    ['openai:gpt-5.6', 640, 480, 'high', 360],
    ['openai:gpt-5.6', 640, 480, 'low', 231],
    ['openai:gpt-6-astra', 3200, 960, 'auto', 3_600],
    ['openai:gpt-6-astra', 3200, 960, 'high', 2_916],
    // platform.claude.com/docs/en/build-with-claude/vision
    ['anthropic:claude-sonnet-4-5', 1000, 1000, 'auto', 1_296],
    ['anthropic:claude-opus-4-1-20250805', 3136, 1568, 'auto', 1_568],
    ['anthropic:claude-haiku-4-5-20251001', 5000, 5000, 'auto', 1_568],
    ['anthropic:claude-opus-4-7', 1920, 1080, 'auto', 2_691],
    ['anthropic:claude-sonnet-5-5', 5000, 5000, 'auto', 4_784],
    // ai.google.dev/gemini-api/docs/tokens, …/media-resolution
    ['google:gemini-2.5-flash', 384, 384, 'auto', 258],
    ['google:gemini-2.5-flash', 385, 100, 'auto', 258],
    ['google:gemini-2.5-flash', 769, 768, 'auto', 516],
    ['google:gemini-2.0-flash', 1600, 1200, 'auto', 6 * 258],
    ['google:gemini-3-pro-preview', 4000, 3000, 'auto', 1_120],
  ])('%s: %d × %d, %s', (model, width, height, detail, tokens) => {
    expect(imageTokens(model, { width, height }, detail)).toBe(tokens);
  });

  test('however long and narrow an image is, it costs something, and no more than its limit', () => {
    for (const model of [
      'openai:gpt-4o',
      'openai:gpt-5-mini',
      'openai:gpt-5.5',
      'anthropic:claude-opus-5',
      'google:gemini-2.5-pro',
    ]) {
      for (const size of [
        { width: 100_000, height: 1 },
        { width: 1, height: 1 },
        { width: 60_000, height: 60_000 },
      ]) {
        for (const detail of ['low', 'high', 'original', 'auto'] as const) {
          const tokens = imageTokens(model, size, detail)!;
          expect(tokens).toBeGreaterThan(0);
          if (!model.startsWith('google:')) expect(tokens).toBeLessThanOrEqual(12_000);
        }
      }
    }
  });

  test('a model of which nobody published one has none', () => {
    for (const model of ['scripted:[]', 'openai-compatible:x', 'echo', 'openai:whisper'])
      expect(imageTokens(model, { width: 10, height: 10 })).toBeUndefined();
  });
});

/** A PNG of this size; its pixels are missing. */
function png(width: number, height: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 6, 0, 0, 0], 8);
  const chunk = (type: string, data: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    return Buffer.concat([length, Buffer.from(type), data, Buffer.alloc(4)]);
  };
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.alloc(4))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A JPEG of this size, behind so many bytes of what a camera writes. */
function jpeg(width: number, height: number, camera: number): Buffer {
  const segments = Math.max(1, Math.ceil(camera / 60_000));
  const app = Buffer.concat([Buffer.from([0xff, 0xe2, 0xea, 0x62]), Buffer.alloc(60_000)]);
  const frame = Buffer.from([
    0xff,
    0xc0,
    0,
    17,
    8,
    height >> 8,
    height & 255,
    width >> 8,
    width & 255,
    3,
    ...Array<number>(9).fill(0),
  ]);
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    ...Array<Buffer>(segments).fill(app),
    frame,
    Buffer.from([0xff, 0xd9]),
  ]);
}

const file = (media_type: string, data: Buffer): ContentPart => ({
  type: 'file',
  media_type,
  data: data.toString('base64'),
});

describe('a message with an image', () => {
  const counting = createCounting({}, (id) => (id === 'fast' ? 'openai:gpt-4o' : id));
  const tokensOf = async (part: ContentPart, model: string, estimator = 'heuristic') => {
    const { count } = await counting.counterOf(estimator, model);
    return (await count({ role: 'user', content: [{ type: 'text', text: 'Look' }, part] }, model)) - 11;
  };

  test.each([
    ['a PNG', file('image/png', png(1024, 1024))],
    ['a JPEG', file('image/jpeg', jpeg(1024, 1024, 0))],
    ['a JPEG behind 300 kB of other data', file('image/jpeg', jpeg(1024, 1024, 300_000))],
    [
      'a data URL',
      { type: 'file', media_type: 'image/png', url: `data:image/png;base64,${png(1024, 1024).toString('base64')}` },
    ],
  ])('counts by the size in the bytes of %s, for the model', async (_, part) => {
    expect(await tokensOf(part, 'openai:gpt-4o')).toBe(765);
    expect(await tokensOf(part, 'fast')).toBe(765);
    expect(await tokensOf(part, 'anthropic:claude-sonnet-4-5')).toBe(1_369);
    expect(await tokensOf(part, 'google:gemini-2.5-flash')).toBe(4 * 258);
    expect(await tokensOf(part, 'openai:gpt-4o', 'calibrated')).toBe(765);
  });

  test('counts by its detail', async () => {
    const part = { ...file('image/png', png(1024, 1024)), provider_metadata: { openai: { imageDetail: 'low' } } };
    expect(await tokensOf(part, 'openai:gpt-4o')).toBe(85);
  });

  test('counts as one of 3,840 × 2,160 where nobody knows its size', async () => {
    const link: ContentPart = { type: 'file', media_type: 'image/*', url: 'https://example.com/a' };
    const most = { width: 3_840, height: 2_160 };
    for (const model of ['openai:gpt-4o', 'anthropic:claude-opus-4-7', 'google:gemini-2.5-flash'])
      expect(await tokensOf(link, model)).toBe(imageTokens(model, most));
    expect(await tokensOf(file('image/png', Buffer.from('no image')), 'openai:gpt-4o')).toBe(
      imageTokens('openai:gpt-4o', most),
    );
  });

  test('counts 1,600 where there is no formula: other files, and other models', async () => {
    expect(await tokensOf(file('application/pdf', Buffer.from('%PDF')), 'openai:gpt-4o')).toBe(1_600);
    expect(await tokensOf(file('image/png', png(1024, 1024)), 'scripted:[]')).toBe(1_600);
  });

  test('counts exactly with the exact counter, beside the text', async () => {
    const { count, name } = await counting.counterOf('exact', 'openai:gpt-4o');
    const text = { role: 'user' as const, content: [{ type: 'text', text: 'Look' }] };
    const both = { ...text, content: [...text.content, file('image/png', png(1024, 1024))] };
    expect(name).toBe('exact');
    expect(((await count(both, '')) as number) - ((await count(text, '')) as number)).toBe(765);
  });

  test('leaves the count of its text as it is', () => {
    expect(heuristicTokens({ role: 'user', content: [{ type: 'text', text: 'éééé' }] })).toBe(12);
  });
});
