import { z } from '@hono/zod-openapi';
import { count, Id, jsonObject, nextCursor, orNull, timestamp } from './values.ts';

const text = z.string().min(1);
const label = z.string().min(1).max(64);

export const Expected = z
  .strictObject({
    answer: text.optional().openapi({ description: 'The whole answer; white space does not count.' }),
    contains: z.array(text).optional().openapi({ description: 'Phrases that the answer has to contain.' }),
    tool: z
      .strictObject({ name: text, arguments: jsonObject('A part of its arguments.').optional() })
      .optional()
      .openapi({ description: 'A tool that the answer has to call.' }),
    rubric: text.optional().openapi({ description: 'What a judge looks at.' }),
    scorer: text.optional().openapi({ description: 'The name of the only scorer that applies.' }),
  })
  .openapi('ExpectedAnswer', { example: { contains: ['30 days'] } });

const fields = {
  thread_id: Id,
  dataset: Id.openapi({ description: 'The name that its cases share.', example: 'refunds' }),
};
const tags = z
  .array(label)
  .max(20)
  .openapi({ example: ['billing'] });
const split = label.openapi({ description: 'A part of the dataset, such as `train` or `test`.', example: 'test' });
const note = z.string().max(4_000).openapi({ example: 'The customer had no receipt.' });

export const NewCase = z
  .strictObject({
    ...fields,
    run_id: Id.optional().openapi({
      description: 'The run whose question is asked again. Either this or `llm_call_id`.',
    }),
    llm_call_id: Id.optional().openapi({ description: 'The model call whose answer is asked for again.' }),
    expected: Expected.optional(),
    ...{ tags: tags.optional(), split: split.optional(), note: note.optional() },
  })
  .openapi('NewCase', {
    example: { thread_id: 'support-42', run_id: 'run-7', dataset: 'refunds', expected: { contains: ['30 days'] } },
  });

export const CaseChanges = z
  .strictObject({
    expected: orNull(Expected).optional(),
    tags: tags.optional(),
    split: orNull(split).optional(),
    note: orNull(note).optional(),
  })
  .openapi('CaseChanges', { example: { expected: { answer: 'No.' }, note: null } });

export const Case = z
  .object({
    id: Id,
    tenant: Id,
    ...fields,
    kind: z.enum(['run', 'call']).openapi({
      description: '`run`: its question is asked again. `call`: its answer is asked for again, with the same context.',
    }),
    run_id: orNull(Id).openapi({ description: 'Null for an imported case.' }),
    llm_call_id: orNull(Id).openapi({ description: 'The call; of a run, its first one. Null for an imported case.' }),
    context_ref: Id,
    seq: count('The last entry of the context before the question or the answer; -1: none.', 6),
    context_hash: z.string().openapi({ description: 'SHA-256 of the messages of the call.' }),
    question: orNull(z.string()).openapi({
      description:
        'The first 200 characters of the message that began its run, read from the log; of an imported case, of the last message of ' +
        'the user. Null if there is none, and once the thread is erased.',
      example: 'Can I send the helmet back?',
    }),
    agent: z.string(),
    model: z.string(),
    tags,
    split: orNull(split),
    expected: orNull(Expected),
    note: orNull(note),
    kept_by: z.string().openapi({ description: '`operator`, `key:<id>` or `cli:<user>`.' }),
    created_at: timestamp('When it was kept.'),
    updated_at: timestamp('When it was last changed.'),
    erased_at: orNull(timestamp('When its thread was erased, and `expected` and `note` with it.')),
  })
  .openapi('Case');

export const CaseList = z.object({ data: z.array(Case), next_after: nextCursor }).openapi('CaseList');

export const DatasetList = z
  .object({
    data: z.array(
      z
        .object({
          tenant: Id,
          dataset: Id,
          cases: count('How many cases it has.', 60),
          erased: count('Of these, how many have lost their thread.', 0),
          updated_at: timestamp('When a case last changed.'),
        })
        .openapi('Dataset'),
    ),
  })
  .openapi('DatasetList');
