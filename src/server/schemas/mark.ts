import { z } from '@hono/zod-openapi';
import { count, Id, jsonObject, orNull } from './values.ts';

const place = {
  run_id: Id,
  kind: z.string().openapi({
    description:
      '`tool_failed`, `tool_retried`, `model_retried`, `model_overridden`, `worker_lost`, `cut`, `over_budget`, `cache_missed`, `steered`, ' +
      '`steer_dropped`, `prompt_changed`, `context_replaced`, `compacted`, `waiting`, `abandoned` or `failed`. More kinds may be added.',
    example: 'tool_failed',
  }),
  seq: z
    .int()
    .nullable()
    .openapi({ description: 'The entry to look at; null: the mark concerns the whole run.', example: 7 }),
  llm_call_id: orNull(Id).openapi({ description: 'The model call that shows more, if any.' }),
};

export const Mark = z
  .object({ ...place, data: jsonObject('Depends on the kind.') })
  .openapi('Mark', { description: 'Something in a run that is worth a look.' });

export const MarkList = z.object({ data: z.array(Mark) }).openapi('MarkList');

const MarkCount = z
  .object({ ...place, count: count('Number of marks of this kind.', 2) })
  .openapi('MarkCount', { description: 'The marks of one kind: how many, and where the first is.' });

/** Marks on the rows of a list. */
export const marks = (of: string) =>
  z
    .array(MarkCount)
    .nullable()
    .openapi({ description: `${of} null unless requested with \`marks\`.` });
