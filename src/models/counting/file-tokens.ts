import type { ContentPart, Json } from '../../context/message.ts';
import { tokensOfAnyFile, type FileTokens } from '../../policy/heuristic.ts';
import { isDetail, type Detail } from '../image-detail.ts';
import { imageTokens } from './image-tokens.ts';
import { sizeOf } from './image-size.ts';

/** What an image counts as whose size nobody knows, because the provider fetches it from its URL. */
const unknownSize = { width: 3_840, height: 2_160 };

/**
 * Counts the files of a message for a model: images by the provider's formula, everything else as `tokensOfAnyFile`.
 *
 * @param model `provider:model`, no alias
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
