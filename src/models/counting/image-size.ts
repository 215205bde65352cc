import { imageSize } from 'image-size';
import type { ContentPart } from '../../context/message.ts';

/** In pixels. */
export interface Size {
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
