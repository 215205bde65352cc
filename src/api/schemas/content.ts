import { z } from '@hono/zod-openapi';
import { count } from './values.ts';

export const ContentId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$/)
  .openapi({ description: 'As `refs.contents` of a message has it.', example: 'c_4b3403665fea6d0f1b1c2a7e9d3f5a60' });

export const ContentRange = z
  .object({
    id: ContentId,
    chars: count('Characters of the whole text, counted as code points.', 412_000),
    bytes: count('Bytes of the whole text in UTF-8.', 415_310),
    offset: count('Where this part begins, in characters.', 0),
    text: z.string(),
    next_offset: count('Where to read on; null at the end.', 65_536).nullable(),
  })
  .openapi('ContentRange', { description: 'A part of a large text.' });
