import { z } from '@hono/zod-openapi';

export const streamData = z
  .string()
  .openapi('StreamData', { format: 'binary', description: 'Data of any type.', example: '[{"text":"Hello"}]' });

const header = (description: string) => z.string().optional().openapi({ param: { description } });

const closed = header('`true`: no more data can follow. Any other value is ignored.');

export const createHeaders = z.object({
  'Stream-TTL': header('Seconds for which it is kept after it was last read or written.'),
  'Stream-Expires-At': header('When it is deleted, in RFC 3339. Not with `Stream-TTL`.'),
  'Stream-Closed': closed,
  'Stream-Forked-From': header('The path of a stream whose data it begins with.'),
  'Stream-Fork-Offset': header('Where it leaves its source; default: the end.'),
  'Stream-Fork-Sub-Offset': header('How many messages, or bytes, it takes after that offset, within one append.'),
});

export const appendHeaders = z.object({
  'Stream-Seq': header('Must be greater than the previous one; compared byte by byte.'),
  'Stream-Closed': closed,
  'Producer-Id': header('Who writes, over restarts. Sent with the other two.'),
  'Producer-Epoch': header('Rises with each start of the producer; a lower one is refused.'),
  'Producer-Seq': header('Counts the requests of an epoch from 0; one that was sent before is not written again.'),
});

/** Unknown parameters are ignored, as the protocol asks. */
export const streamQuery = z.looseObject({
  offset: z
    .any()
    .optional()
    .openapi({
      type: 'string',
      param: { description: 'A `Stream-Next-Offset`, `-1` for the start (the default), or `now`.' },
    }),
  live: z
    .any()
    .optional()
    .openapi({
      type: 'string',
      enum: ['long-poll', 'sse'],
      param: { description: 'Wait for data that is not there yet.' },
    }),
  cursor: z
    .any()
    .optional()
    .openapi({ type: 'string', param: { description: 'The `Stream-Cursor` of the read before.' } }),
});
