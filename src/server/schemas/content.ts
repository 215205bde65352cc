import { z } from '@hono/zod-openapi';
import { count, Id } from './values.ts';

export const ContentRange = z
  .object({
    id: Id,
    chars: count('Length of the whole text in characters (code points).', 412_000),
    bytes: count('Length of the whole text in bytes of UTF-8.', 415_310),
    offset: count('Where this part begins, in characters.', 0),
    text: z.string(),
    next_offset: count('Where the next part begins; null at the end.', 65_536).nullable(),
  })
  .openapi('ContentRange', { description: 'A part of a large text.' });
