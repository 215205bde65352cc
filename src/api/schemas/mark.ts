import { z } from '@hono/zod-openapi';
import { count, Id, jsonObject, orNull } from './values.ts';

const place = {
  run_id: Id,
  kind: z.string().openapi({
    description:
      '`tool_failed`, `tool_retried`, `model_retried`, `model_overridden`, `worker_lost`, `cut`, `over_budget`, `cache_missed`, `steered`, ' +
      '`steer_dropped`, `prompt_changed`, `context_replaced`, `compacted`, `waiting`, `abandoned` or `failed`. More may come.',
    example: 'tool_failed',
  }),
  seq: z.int().nullable().openapi({ description: 'The entry to look at; null: it concerns the run.', example: 7 }),
  llm_call_id: orNull(Id).openapi({ description: 'The model call that shows more.' }),
};

export const Mark = z
  .object({ ...place, data: jsonObject('Depends on the kind.') })
  .openapi('Mark', { description: 'Something about a run that is worth a look.' });

export const MarkList = z.object({ data: z.array(Mark) }).openapi('MarkList');

const MarkCount = z
  .object({ ...place, count: count('How often.', 2) })
  .openapi('MarkCount', { description: 'How often something is marked, and where for the first time.' });

/** Marks on the rows of a list. */
export const marks = (of: string) =>
  z
    .array(MarkCount)
    .nullable()
    .openapi({ description: `${of} Null unless asked for with \`marks\`.` });
