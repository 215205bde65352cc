import { imageSize } from 'image-size';
import { wordOf, isBlank } from '../../base/checks/values.ts';
import type { ContentPart, JsonObject, Message } from '../context/message.ts';
import { LanefoldError } from '../../base/errors.ts';
import { isDetail } from './file-tokens.ts';
import { toParts } from './parts.ts';

/** Bytes, standard base64, a data URL, or the URL of a file. */
export type FileSource =
  | string
  | URL
  | Uint8Array
  | ArrayBuffer
  | { type: 'data'; data: string | Uint8Array | ArrayBuffer }
  | { type: 'url'; url: string | URL };

/** An image in the format of OpenAI's chat completions. */
export interface ImageUrlPart {
  type: 'image_url';
  image_url: { url: string; detail?: 'auto' | 'low' | 'high' | 'original' | undefined };
}

/** An image in the AI SDK's format. */
export interface ImagePart {
  type: 'image';
  image: FileSource;
  /** Default: detected from the bytes, or from the name in the URL. */
  mediaType?: string | undefined;
  /** As `provider_metadata` of a stored part. */
  providerOptions?: JsonObject | undefined;
}

/** A file in the AI SDK's format. */
export interface FilePart {
  type: 'file';
  data: FileSource;
  mediaType: string;
  filename?: string | undefined;
  providerOptions?: JsonObject | undefined;
}

/** A message's content as callers give it: text, or parts in the format of the log, OpenAI or the AI SDK. */
export type ContentInput = string | (ContentPart | ImageUrlPart | ImagePart | FilePart)[];

/** A message as callers give it. */
export type MessageInput = Omit<Message, 'role' | 'content'> & {
  role: 'user' | 'assistant' | 'tool';
  content: ContentInput;
};

/**
 * Converts content to its stored form. OpenAI's `image_url` and `file` parts, and the AI SDK's `image` and `file`
 * parts, become `{type: "file", media_type, data | url}`; OpenAI's `detail` becomes
 * `provider_metadata.openai.imageDetail`, and bytes become base64. Content that is neither text nor parts is passed on;
 * the check of the rest of the message rejects it.
 *
 * @throws LanefoldError `invalid_input` for a part that no model accepts: once in the log, it would fail every later
 * run of its lane
 */
export function acceptContent(content: ContentInput): Message['content'] {
  if (!Array.isArray(content)) return content as Message['content'];
  const parts = content.map(toStored);
  toParts(parts);
  return parts;
}

/** The message with its content as the log stores it. @throws LanefoldError `invalid_input` */
export const acceptMessage = <T extends { content?: ContentInput } | null | undefined>(
  message: T,
): T & { content: Message['content'] } =>
  (Array.isArray(message?.content) ? { ...message, content: acceptContent(message.content) } : message) as never;

type Fields = Record<string, unknown>;

function toStored(part: unknown): ContentPart {
  const fields = Object(part) as Fields;
  if (fields['type'] === 'image_url') return openAiImage(fields);
  if (fields['type'] === 'image') return file('image', fields['image'], fields);
  if (fields['type'] !== 'file') return part as ContentPart;
  if (typeof fields['file'] === 'object' && fields['file'] !== null) return openAiFile(fields['file'] as Fields);
  if (isStoredFile(fields)) return part as ContentPart;
  if (fields['data'] === undefined && typeof fields['url'] === 'string')
    return file('file', fields['url'], { ...fields, mediaType: fields['media_type'] ?? fields['mediaType'] });
  return file('file', fields['data'] ?? fields['url'], fields);
}

/**
 * `{type: "file", media_type, …}`, and parts too incomplete to convert: the check of stored parts says what is missing.
 */
function isStoredFile({ media_type: stored, mediaType, data, url }: Fields): boolean {
  if (stored === undefined && (mediaType !== undefined || (data ?? url) instanceof Object)) return false;
  if (data === undefined && typeof url === 'string' && /^data:/i.test(url)) return false;
  if (data === undefined || data === null) return true;
  if (typeof data !== 'string') return false;
  assertBase64('file', data);
  return true;
}

function openAiImage({ image_url: given }: Fields): ContentPart {
  const { url, detail } = (typeof given === 'string' ? { url: given } : Object(given)) as Fields;
  if (typeof url !== 'string') throw invalid('image_url', 'has no url');
  if (!/^(data|https?):/i.test(url)) throw invalid('image_url', 'has a url that is neither http(s): nor data:');
  if (detail === undefined || detail === null) return file('image_url', url, {});
  return file('image_url', url, { providerOptions: { openai: { imageDetail: detail as string } } });
}

function openAiFile({ file_data: data, filename }: Fields): ContentPart {
  if (typeof data !== 'string' || !data.startsWith('data:'))
    throw invalid('file', 'has no file_data with a data URL; ids of uploaded files are not supported');
  return file('file', data, { filename });
}

function file(type: string, given: unknown, { mediaType, filename, providerOptions, provider_metadata: own }: Fields) {
  const source = readSource(type, given);
  const metadata = providerOptions ?? own;
  const { imageDetail: detail = 'auto' } = Object(Object(metadata as unknown).openai) as Fields;
  if (!isDetail(detail)) throw invalid(type, `has the unknown detail ${JSON.stringify(detail)?.slice(0, 80)}`);
  return {
    type: 'file',
    media_type: mediaTypeOf(type, mediaType ?? source.mediaType, source),
    ...('url' in source ? { url: source.url } : { data: source.data }),
    ...(typeof filename === 'string' ? { filename } : {}),
    ...(metadata === undefined ? {} : { provider_metadata: metadata as JsonObject }),
  };
}

type Source = { mediaType?: string | undefined } & ({ data: string } | { url: string });

function readSource(type: string, given: unknown): Source {
  if (given instanceof Uint8Array) return fromBytes(type, given);
  if (given instanceof ArrayBuffer) return fromBytes(type, new Uint8Array(given));
  if (given instanceof URL) return readSource(type, given.href);
  if (typeof given === 'string') {
    if (/^data:/i.test(given)) return fromDataUrl(type, given);
    if (/^[a-z][a-z0-9+.-]*:\/\//i.test(given)) return { url: given };
    assertBase64(type, given);
    return { data: given };
  }
  const tagged = Object(given) as Fields;
  if (tagged['type'] === 'data' || tagged['type'] === 'url') return readSource(type, tagged[tagged['type']]);
  throw invalid(type, 'has neither bytes, base64 nor a URL');
}

function fromBytes(type: string, bytes: Uint8Array): Source {
  if (bytes.byteLength === 0) throw invalid(type, 'is empty');
  return { data: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64') };
}

function fromDataUrl(type: string, url: string): Source {
  const comma = url.indexOf(',');
  const [mediaType, ...parameters] = url.slice('data:'.length, Math.max(comma, 0)).split(';');
  const data = url.slice(comma + 1);
  if (comma < 0) throw invalid(type, 'has a data URL without data');
  if (parameters.at(-1)?.toLowerCase() === 'base64') {
    assertBase64(type, data);
    return { data, mediaType: mediaType || undefined };
  }
  try {
    return { ...fromBytes(type, Buffer.from(decodeURIComponent(data))), mediaType: mediaType || undefined };
  } catch {
    throw invalid(type, 'has a data URL that cannot be decoded');
  }
}

/** Providers reject line breaks, the URL-safe alphabet and missing padding. */
function assertBase64(type: string, data: string): void {
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0;
  const end = data.indexOf('=');
  const sound =
    data !== '' && data.length % 4 === 0 && !/[^A-Za-z0-9+/=]/.test(data) && (end < 0 || end === data.length - padding);
  if (!sound) throw invalid(type, data === '' ? 'is empty' : 'has data that is not standard base64');
}

function mediaTypeOf(type: string, given: unknown, source: Source): string {
  const known = typeof given === 'string' && /^[^/\s]+\/[^/\s*]+$/.test(given) ? given : undefined;
  const image = type !== 'file' || /^image(\/\*?)?$/.test(wordOf(given));
  if (known && type !== 'file' && !/^image\//i.test(known))
    throw invalid(type, `has the media type ${known}, which is not an image`);
  if (known) return known;
  if (!image) throw invalid(type, 'has no mediaType');
  if ('url' in source) return typeByName(source.url) ?? 'image/*';
  const found = imageType(source.data);
  if (found) return found;
  throw invalid(type, 'has no mediaType, and its bytes are not a known image format');
}

const types: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  bmp: 'image/bmp',
  avif: 'image/avif',
  heic: 'image/heic',
  heif: 'image/heif',
  tiff: 'image/tiff',
};

function typeByName(url: string): string | undefined {
  const name = URL.canParse(url) ? new URL(url).pathname : '';
  return types[/\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase() ?? ''];
}

function imageType(data: string): string | undefined {
  try {
    return types[imageSize(Buffer.from(data, 'base64')).type ?? ''];
  } catch {
    return undefined;
  }
}

const invalid = (type: string, what: string): LanefoldError =>
  new LanefoldError('invalid_input', `A content part of type "${type}" ${what}.`, {
    hint: 'Nothing was written. Use {type: "file", media_type, data | url} with standard base64 or a URL, {type: "image_url", image_url: {url}}, or {type: "image", image}.',
    details: { type },
  });

/** Rejects blank content: providers reject it, now or in a later run. @throws LanefoldError `empty_content` */
export function assertNotBlank(content: Message['content'] | undefined, what: string): void {
  const texts = Array.isArray(content)
    ? content.flatMap((part) => (part.type === 'text' && typeof part['text'] === 'string' ? [part['text']] : []))
    : [content ?? ''];
  const empty = Array.isArray(content) && content.length === 0;
  if (!empty && !texts.some(isBlank)) return;
  const where = Array.isArray(content) && !empty ? 'contains an empty text part' : 'is empty';
  throw new LanefoldError('empty_content', `${what} ${where}.`, {
    hint: 'Nothing was written. White space alone counts as empty.',
  });
}
