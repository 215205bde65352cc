import type { ContentPart, Json } from '../../context/message.ts';
import { tokensOfAnyFile, type FileTokens } from '../../policy/heuristic.ts';
import { isDetail, type Detail } from '../image-detail.ts';
import { imageTokens } from './image-tokens.ts';
import { sizeOf } from './image-size.ts';

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
