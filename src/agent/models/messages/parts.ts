import type { LanguageModelV4FilePart, LanguageModelV4TextPart } from '@ai-sdk/provider';
import type { ContentPart, Json, Message } from '../../context/message.ts';
import { isBlankToProviders } from '../../../base/checks/text.ts';
import { LanefoldError } from '../../../base/errors.ts';
import { toProviderOptions } from './reasoning.ts';

export type PromptPart = LanguageModelV4TextPart | LanguageModelV4FilePart;

/**
 * Text and file parts for a provider. `data` is base64; a `url` is passed on without downloading it.
 *
 * @throws LanefoldError `invalid_input` for any other type of part, or a file without `data` or an absolute `url`
 */
export const toParts = (content: Message['content']): PromptPart[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content.map(toPart);

/** Those parts without blank texts, which providers refuse; all of them if there is nothing else. */
export function toSaidParts(content: Message['content']): PromptPart[] {
  const parts = toParts(content);
  if (parts.length === 1) return parts;
  const said = parts.filter((part) => part.type !== 'text' || !isBlankToProviders(part.text));
  return said.length > 0 ? said : parts;
}

function toPart(part: ContentPart): PromptPart {
  if (part === null || typeof part !== 'object') throw unsupported(part);
  const fields = part as { [key: string]: Json | undefined };
  const options = toProviderOptions(fields.provider_metadata);
  if (part.type === 'text' && typeof fields.text === 'string') return { type: 'text', text: fields.text, ...options };
  if (part.type !== 'file') throw unsupported(part.type);
  if (typeof fields.media_type !== 'string') throw invalidFile('has no media_type');
  return {
    type: 'file',
    ...(typeof fields.filename === 'string' ? { filename: fields.filename } : {}),
    data: fileData(fields.data, fields.url),
    mediaType: fields.media_type,
    ...options,
  };
}

function fileData(data: Json | undefined, url: Json | undefined): LanguageModelV4FilePart['data'] {
  if (typeof data === 'string') return { type: 'data', data };
  if (typeof url !== 'string') throw invalidFile('has neither data nor url');
  const inline = /^data:[^,]*;base64,(.*)$/s.exec(url);
  if (inline) return { type: 'data', data: inline[1] ?? '' };
  if (!URL.canParse(url)) throw invalidFile('has a url that is not an absolute URL');
  return { type: 'url', url: new URL(url) };
}

/** The content of a system message, which providers accept only as one string. */
export function toText(content: Message['content']): string {
  const parts = toParts(content);
  return parts
    .map((part) => {
      if (part.type !== 'text') throw unsupported(part.type, 'in a system message');
      return part.text;
    })
    .join('\n');
}

const unsupported = (type: unknown, where = '') =>
  new LanefoldError(
    'invalid_input',
    `A content part of type ${JSON.stringify(type)} cannot be sent ${where || 'to a model'}.`,
    {
      hint: 'Use {type: "text", text} or {type: "file", media_type, data | url}.',
      details: { type },
    },
  );

const invalidFile = (what: string) =>
  new LanefoldError('invalid_input', `A content part of type "file" ${what}.`, {
    hint: 'Use {type: "file", media_type, data} with base64, or {type: "file", media_type, url}.',
    details: { type: 'file' },
  });
