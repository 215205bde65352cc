import type { ContentPart, Json } from '../context/message.ts';
import { tokensOfAnyFile, type FileTokens } from '../policy/estimate.ts';
import { imageSize } from 'image-size';

/**
 * Matches OpenAI's models from GPT-5.6 on, which accept cache breakpoints and count images differently from earlier
 * ones.
 */
export const sinceGpt56 = /^gpt-(5\.([6-9]|\d\d)|[6-9]|\d\d)/;

/** Assumed size of an image given by URL: only the provider downloads it, so its size is unknown here. */
const unknownSize = { width: 3_840, height: 2_160 };

/**
 * Counts the tokens of a message's files for a model: images by the provider's formula, other files with
 * `tokensOfAnyFile`.
 *
 * @param model `provider:model`, not an alias
 */
export const fileTokensOf =
  (model: string): FileTokens =>
  (part) =>
    (isImage(part) ? imageTokens(model, sizeOf(part) ?? unknownSize, detailOf(part)) : undefined) ?? tokensOfAnyFile;

const isImage = (part: ContentPart): boolean =>
  'media_type' in part && typeof part.media_type === 'string' && part.media_type.startsWith('image');

function detailOf(part: ContentPart): Detail | undefined {
  const metadata = (part as { provider_metadata?: { openai?: { imageDetail?: Json } } }).provider_metadata;
  const detail = metadata?.openai?.imageDetail;
  return isDetail(detail) ? detail : undefined;
}

/** Tokens of an image of this size for the models of one family. */
type Formula = (size: Size, detail: Detail) => number;

/**
 * Tokens of an image by its provider's published formula; undefined if no formula is known for the model.
 *
 * @param model `provider:model`, not an alias
 */
export function imageTokens(model: string, size: Size, detail: Detail = 'auto'): number | undefined {
  const at = model.indexOf(':');
  const families = formulas[model.slice(0, at)];
  return families?.find(([name]) => name.test(model.slice(at + 1)))?.[1](size, detail);
}

/**
 * OpenAI before GPT-5.4: base tokens, plus more for each tile of 512 pixels. “Images and vision”, “Calculating costs”:
 * https://developers.openai.com/api/docs/guides/images-vision
 */
const tiles =
  (base: number, tile: number): Formula =>
  (size, detail) => {
    if (detail === 'low') return base;
    const { width, height } = scaled(size, Math.min(1, 2_048 / longest(size)));
    const { width: w, height: h } = scaled({ width, height }, Math.min(1, 768 / Math.min(width, height)));
    return base + tile * Math.ceil(w / 512) * Math.ceil(h / 512);
  };

interface PatchLimit {
  patches: number;
  edge: number;
}

/**
 * OpenAI's small and newer models: patches of 32 pixels, after scaling the image down to the limits of its detail
 * level, times a factor of the model. Same page as above.
 */
const patches =
  (factor: number, high: PatchLimit, original = high, auto = high): Formula =>
  (size, detail) => {
    if (detail === 'low') return Math.ceil(factor * coverage(scaled(size, Math.min(1, 512 / longest(size))), 32));
    const limit = { high, original, auto }[detail] ?? auto;
    return Math.ceil(factor * patchesWithin(scaled(size, Math.min(1, limit.edge / longest(size))), limit.patches));
  };

function patchesWithin(size: Size, most: number): number {
  if (coverage(size, 32) <= most) return coverage(size, 32);
  const shrink = Math.sqrt((32 ** 2 * most) / (size.width * size.height));
  const whole = (edge: number) => Math.max(1, Math.floor((edge * shrink) / 32)) / ((edge * shrink) / 32);
  const fitted = shrink * Math.min(whole(size.width), whole(size.height));
  return Math.min(most, coverage({ width: size.width * fitted, height: size.height * fitted }, 32, 1e-6));
}

/**
 * Anthropic: patches of 28 pixels, so about width times height / 750, after scaling the image down to the model's
 * limits. “Vision”, “Resolution and token cost”: https://platform.claude.com/docs/en/build-with-claude/vision
 */
const squares =
  (edge: number, most: number): Formula =>
  (size) => {
    const fitted = scaled(size, Math.min(1, edge / longest(size)));
    return Math.min(most, coverage(fitted, 28));
  };

/**
 * Google up to Gemini 2.5: tiles of 768 pixels, 258 tokens each; an image of at most 384 pixels counts as one tile.
 * “Understand and count tokens”: https://ai.google.dev/gemini-api/docs/tokens
 */
const geminiTiles: Formula = (size) => 258 * (longest(size) <= 384 ? 1 : coverage(size, 768));

/** Gemini 3 and later: the budget of the default resolution, https://ai.google.dev/gemini-api/docs/media-resolution */
const geminiBudget: Formula = () => 1_120;

const small = { patches: 1_536, edge: 2_048 };

const large = { patches: 2_500, edge: 2_048 };

const whole = { patches: 10_000, edge: 6_000 };

const [largeNow, wholeNow] = [2_500, 30_000].map((most) => ({ patches: most, edge: 65_535 }));

/** Formulas by provider; the first pattern that matches the model's name applies. */
const formulas: Record<string, [RegExp, Formula][]> = {
  openai: [
    [sinceGpt56, patches(1.2, largeNow!, wholeNow, wholeNow)],
    [/^gpt-5\.5/, patches(1.2, large, whole, whole)],
    [/^gpt-(5(\.\d)?|4\.1)-mini/, patches(1.62, small)],
    [/^gpt-(5(\.\d)?|4\.1)-nano/, patches(2.46, small)],
    [/^gpt-5\.4/, patches(1.2, large, whole)],
    [/^gpt-5(\.\d)?-codex|^gpt-5\.[23]/, patches(1.2, small)],
    [/^o4-mini/, patches(1.72, small)],
    [/^gpt-5/, tiles(70, 140)],
    [/^gpt-4o-mini/, tiles(2_833, 5_667)],
    [/^(gpt-4|chatgpt-4o)/, tiles(85, 170)],
    [/^o[13]/, tiles(75, 150)],
    [/^computer-use/, tiles(65, 129)],
  ],
  anthropic: [
    [/^claude-([123]|instant|(haiku|sonnet|opus)-4-([0-6](-|$)|\d{8}))/, squares(1_568, 1_568)],
    [/^claude/, squares(2_576, 4_784)],
  ],
  google: [
    [/^(models\/)?gemini-[12]\b/, geminiTiles],
    [/^(models\/)?gemini/, geminiBudget],
  ],
};

const longest = ({ width, height }: Size): number => Math.max(width, height);

const scaled = ({ width, height }: Size, by: number): Size => ({
  width: Math.max(1, Math.round(width * by)),
  height: Math.max(1, Math.round(height * by)),
});

/** How many squares cover an image. `slack`: the excess that rounding may have added to a whole number of squares. */
const coverage = ({ width, height }: Size, square: number, slack = 0): number =>
  Math.ceil(width / square - slack) * Math.ceil(height / square - slack);

/** In pixels. */
interface Size {
  width: number;
  height: number;
}

/**
 * Characters of base64 read first: nearly all formats have their size there, but a photo may have a large preview
 * before it.
 */
const head = 128 * 1024;

/** Cached, because a part never changes. */
const known = new WeakMap<ContentPart, Size | null>();

/**
 * The size of an image, read from its bytes; undefined for a URL and for bytes that are not an image. Downloads
 * nothing.
 */
export function sizeOf(part: ContentPart): Size | undefined {
  const found = known.get(part);
  if (found !== undefined) return found ?? undefined;
  const data = 'data' in part && typeof part.data === 'string' ? part.data : inlineData(part);
  const size =
    data === undefined ? undefined : (read(data.slice(0, head)) ?? (data.length > head ? read(data) : undefined));
  known.set(part, size ?? null);
  return size;
}

function inlineData(part: ContentPart): string | undefined {
  const url = 'url' in part && typeof part.url === 'string' ? part.url : '';
  return url.startsWith('data:') ? url.slice(url.indexOf(',') + 1) : undefined;
}

function read(base64: string): Size | undefined {
  try {
    const { width, height } = imageSize(Buffer.from(base64, 'base64'));
    return width > 0 && height > 0 ? { width, height } : undefined;
  } catch {
    return undefined;
  }
}

/** How closely an OpenAI model looks at an image: `provider_metadata.openai.imageDetail` of its part. */
export type Detail = 'low' | 'high' | 'original' | 'auto';

export const isDetail = (value: unknown): value is Detail =>
  value === 'low' || value === 'high' || value === 'original' || value === 'auto';
