import { z } from 'zod';
import { count, date, Id, jsonObject, named, orNull, typed } from '../../../base/operations/schemas.ts';

/** The kinds of marks that stay with a run. The SQL function `run_marks` defines them. */
export const markKinds = [
  'failed',
  'ended_early',
  'abandoned',
  'tool_failed',
  'arguments_refused',
  'tool_retried',
  'model_retried',
  'model_fell_back',
  'worker_lost',
  'cut',
  'over_budget',
  'cache_missed',
  'handoffs_looped',
  'model_overridden',
  'liked',
  'disliked',
  'steered',
  'steer_dropped',
  'prompt_changed',
  'context_replaced',
  'compacted',
] as const;

export const MarkKind = z.enum(markKinds);

const marked = {
  runId: Id,
  kind: z.string().meta({
    description: `${markKinds.map((kind) => `\`${kind}\``).join(', ')} or \`waiting\`. More kinds may be added.`,
    example: 'tool_failed',
  }),
  seq: z
    .int()
    .nullable()
    .meta({ description: 'The entry to look at; null: the mark concerns the whole run.', example: 7 }),
  llmCallId: orNull(Id).describe('The model call that shows more, if any.'),
};

export const RunMark = named(
  'Mark',
  z
    .object({ ...marked, data: jsonObject('Depends on the kind.') })
    .meta({ description: 'Something in a run that is worth a look.' }),
);

export const RunMarkCount = named(
  'MarkCount',
  z
    .object({ ...marked, count: count('Number of marks of this kind.', 2) })
    .meta({ description: 'The number of marks of one kind, and the place of the first mark.' }),
);

/** Marks on the rows of a list. */
export const marks = (of: string) =>
  z.array(RunMarkCount).describe(`Marks of ${of}, counted by kind. A run that waits has its mark only in its thread.`);

export const RunEvent = named(
  'RunEvent',
  z
    .object({
      eventSeq: count('Number in the thread, from 0, without gaps.', 12),
      runId: Id,
      seq: count('Number in the run, from 1, without gaps.', 3),
      kind: typed('RunEventKind', 'agent/strategies/records.ts', z.string().meta({ example: 'llm_completed' })),
      iteration: count('The iteration that the event belongs to.', 1),
      data: jsonObject('Depends on the kind; `data.seq` refers to an entry.'),
      at: date('When the event was committed.'),
    })
    .meta({ description: 'An event of the trace.' }),
);
