import type { ContentPart, Json } from '../../../agent/context/message.ts';
import type { UiFilePart, UiTextPart } from './message.ts';
import { maxDepth, parseJson } from '../../../base/common/json.ts';

export const textOrJson = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** A tool result as the tool returned it: JSON is parsed, other text stays text. */
export function toOutput(content: Json): Json {
  if (typeof content !== 'string') return content;
  try {
    return parseJson(content, maxDepth) as Json;
  } catch {
    return content;
  }
}

/** The text of an error result. */
export function toErrorText(content: Json): string {
  const { error } = Object(toOutput(content)) as { error?: { message?: string } };
  return error?.message ?? textOrJson(content);
}

/** The content of a stored user message. */
export const toContentParts = (content: Json): (UiTextPart | UiFilePart)[] =>
  Array.isArray(content)
    ? (content as unknown as ContentPart[]).map(toContentPart)
    : [{ type: 'text', text: textOrJson(content) }];

function toContentPart(part: ContentPart): UiTextPart | UiFilePart {
  const { type, text, media_type, data, url, filename } = part as Record<string, Json | undefined>;
  if (type !== 'file') return { type: 'text', text: textOrJson(text ?? (part as Json)) };
  const mediaType = textOrJson(media_type ?? 'application/octet-stream');
  return {
    type: 'file',
    mediaType,
    url: data === undefined ? textOrJson(url ?? '') : `data:${mediaType};base64,${textOrJson(data)}`,
    ...(typeof filename === 'string' ? { filename } : {}),
  };
}

/** Ids of tool calls within one message: a model may reuse an id, but here each must be unique. */
export class UniqueIds {
  readonly #used = new Set<string>();

  shown(id: string): string {
    let shown = id;
    for (let n = 2; this.#used.has(shown); n++) shown = `${id}#${n}`;
    this.#used.add(shown);
    return shown;
  }
}
