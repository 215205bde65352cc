import { z } from 'zod';
import { noun } from '../../base/operations/operation.ts';
import { bulk, BulkReceipt } from '../../runs/operations/runs/declaration.ts';
import { after, count, date, Id, jsonObject, limit, named, orNull, pageOf } from '../../base/operations/schemas.ts';

const text = z.string().min(1);
const label = z.string().min(1).max(64);
const word = z.string().min(1).max(400).optional();

export const Expected = named(
  'ExpectedAnswer',
  z
    .strictObject({
      answer: text.optional().describe('The whole answer; white space does not count.'),
      contains: z.array(text).optional().describe('Phrases that the answer has to contain.'),
      tool: z
        .strictObject({ name: text, arguments: jsonObject('A part of its arguments.').optional() })
        .optional()
        .describe('A tool that the answer has to call.'),
      rubric: text.optional().describe('What a judge looks at.'),
      scorer: text.optional().meta({
        description: 'The name of the only scorer that applies.',
        doc: 'The name of the only scorer that applies; default: every scorer that can score the case.',
      }),
    })
    .meta({
      doc: 'What the answer to a case should have been. Each field is scored by a scorer of its kind.',
      example: { contains: ['30 days'] },
    }),
);

const fields = {
  threadId: Id,
  dataset: Id.meta({ description: 'The name that its cases share.', example: 'refunds' }),
};
const tags = z
  .array(label)
  .max(20)
  .meta({ example: ['billing'] });
const split = label.meta({ description: 'A part of the dataset, such as `train` or `test`.', example: 'test' });
const note = z.string().max(4_000).meta({ example: 'The customer had no receipt.' });

export const NewCase = named(
  'NewCase',
  z
    .strictObject({
      ...fields,
      runId: Id.optional().describe('The run whose question is asked again. Either this or `llm_call_id`.'),
      llmCallId: Id.optional().describe('The model call that is made again.'),
      expected: Expected.optional(),
      tags: tags.optional(),
      split: split.optional(),
      note: note.optional(),
    })
    .meta({
      doc: 'A case to keep: a run, or one of its model calls.',
      example: { threadId: 'support-42', runId: 'run-7', dataset: 'refunds', expected: { contains: ['30 days'] } },
    }),
);

export const CaseChanges = named(
  'CaseChanges',
  z
    .strictObject({
      expected: orNull(Expected).optional(),
      tags: tags.optional(),
      split: orNull(split).optional(),
      note: orNull(note).optional(),
    })
    .meta({
      doc: 'Changes of a case; null removes a value.',
      example: { expected: { answer: 'No.' }, note: null },
    }),
);

export const EvalCase = named(
  'Case',
  z
    .object({
      id: Id,
      tenant: Id,
      ...fields,
      kind: z
        .enum(['run', 'call'])
        .describe(
          '`run`: the question of the run is asked again. `call`: the model is asked once more for the answer of the call, with the same context.',
        ),
      runId: orNull(Id).describe('Null for an imported case.'),
      llmCallId: orNull(Id).describe('The model call; for a run, its first model call. Null for an imported case.'),
      contextRef: Id,
      seq: count('The last entry of the context before the question or the answer; -1: none.', 6),
      contextHash: z.string().describe('SHA-256 of the messages of the call.'),
      question: orNull(z.string()).meta({
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
      keptBy: z.string().describe('`operator`, `key:<id>` or `cli:<user>`.'),
      createdAt: date('When it was kept.'),
      updatedAt: date('When it was last changed.'),
      erasedAt: orNull(date('When the thread was erased. The erasure also removed `expected` and `note`.')),
    })
    .meta({ doc: 'A case: a past run or model call, by reference, with what should have been answered.' }),
);

export const Dataset = named(
  'Dataset',
  z
    .object({
      tenant: Id,
      dataset: Id,
      cases: count('How many cases it has.', 60),
      erased: count('How many of these cases have an erased thread.', 0),
      updatedAt: date('When a case last changed.'),
    })
    .meta({ doc: 'A dataset: the name that cases share.' }),
);

const by = z.string().optional().describe('Who makes the change, for the case and the audit; default `operator`.');
const kept = { description: 'The case.', schema: EvalCase };

export const cases = noun('cases', 'Evals', {
  keep: {
    id: 'keepCase',
    route: 'POST /v1/cases',
    client: true,
    summary: 'Keep a run or a model call as a case',
    description:
      'The case points to the log and copies nothing. A model call is refused if the log cannot prove what the call sent.',
    doc:
      'Keeps a run that has ended, or a model call, as a case of a dataset. The case refers to the log and copies nothing of it. ' +
      'A call that the log does not prove, because a request transformer changed it, say, is refused.',
    body: NewCase,
    bodyName: 'given',
    own: { by },
    answer: { ...kept, status: 201 },
    errors: [
      'case_unverified',
      'case_exists',
      'invalid_input',
      'thread_not_found',
      'thread_erased',
      'run_not_found',
      'call_not_found',
      'invalid_id',
    ],
  },
  keepMany: {
    id: 'keepRuns',
    route: 'POST /v1/cases/keep-many',
    client: true,
    summary: 'Keep the ended runs that a filter selects as cases',
    description:
      'Runs that have not ended are left out; a run that the dataset has already stays as it is. Each run has an outcome: one that is refused stops no other.',
    body: named(
      'KeepRuns',
      z
        .strictObject({
          ...bulk,
          dataset: fields.dataset,
          tags: tags.optional(),
          split: split.optional(),
          note: note.optional(),
        })
        .meta({
          example: {
            filter: { status: 'failed', createdBefore: new Date('2026-11-21T10:15:30.123Z') },
            dataset: 'refunds',
          },
        }),
    ),
    bodyIs: 'options',
    positional: ['filter', 'dataset'],
    own: { by },
    answer: { description: 'What became of the runs.', schema: BulkReceipt },
    errors: ['invalid_input', 'invalid_id'],
  },
  list: {
    id: 'listCases',
    route: 'GET /v1/cases',
    scope: 'read',
    client: true,
    summary: 'List cases, the oldest first',
    query: {
      dataset: Id.optional(),
      tag: word.describe('Only cases with this tag.'),
      split: word.describe('Only cases of this part.'),
      threadId: Id.optional().describe('Only cases of this thread.'),
      after,
      limit: limit(50),
    },
    answer: { description: 'A page of cases.', schema: pageOf('CaseList', EvalCase) },
  },
  get: {
    id: 'getCase',
    route: 'GET /v1/cases/{case_id}',
    scope: 'read',
    client: true,
    summary: 'Get a case',
    answer: kept,
    errors: ['case_not_found'],
  },
  update: {
    id: 'updateCase',
    route: 'PATCH /v1/cases/{case_id}',
    client: true,
    summary: 'Change what a case expects, and its labels',
    description: 'Fields that are left out stay as they are; null removes a value.',
    body: CaseChanges,
    bodyName: 'changes',
    own: { by },
    answer: kept,
    errors: ['case_not_found', 'case_erased', 'invalid_input'],
  },
  remove: {
    id: 'removeCase',
    route: 'DELETE /v1/cases/{case_id}',
    client: true,
    summary: 'Remove a case',
    description: 'Its thread stays.',
    own: { by },
    answer: { description: 'The case is removed.' },
    errors: ['case_not_found'],
  },
  datasets: {
    id: 'listDatasets',
    route: 'GET /v1/datasets',
    scope: 'read',
    client: true,
    summary: 'List the datasets',
    answer: { description: 'The datasets, by tenant and name.', schema: z.array(Dataset) },
  },
});
