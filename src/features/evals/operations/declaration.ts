import { z } from 'zod';
import { noun } from '../../../base/operations/operation.ts';
import {
  after,
  anyJson,
  from,
  Id,
  limit,
  named,
  numberedPage,
  orNull,
  pageOf,
  typed,
  whole,
} from '../../../base/operations/schemas.ts';
import { EvalDefinition, ListedEval, ListedEvalItem } from '../store/declaration.ts';

/** Its variants and comparisons are written by `toJson`, which documents them. */
const Report = named(
  'EvalReport',
  z.object({
    format: z.int().describe('Changes when the meaning of a field changes.'),
    baseline: orNull(z.string()),
    variants: anyJson('The results of each variant.'),
    comparisons: anyJson('The baseline with each other variant: by case, worse ones first, and by tag.'),
    seed: z.int(),
    resamples: z.int(),
  }),
);

const Signal = typed(
  'AbortSignal',
  undefined,
  z.custom<AbortSignal>((signal) => signal instanceof AbortSignal, 'Must be an AbortSignal.'),
);

export const EvalWaitOptions = z
  .object({
    timeoutMs: whole(1).optional().describe('Default: ten minutes.'),
    signal: Signal.optional().describe('Ends the waiting; the eval continues.'),
  })
  .meta({ doc: 'How long to wait for the end of an eval.' });

const by = z.string().optional().describe('Who makes the change, for the audit; default `operator`.');
const answer = { description: 'The eval.', schema: ListedEval };

export const evals = noun('evals', 'Evals', {
  run: {
    id: 'startEval',
    route: 'POST /v1/evals',
    summary: 'Run an eval',
    description:
      'Workers ask each case under each variant, on threads that begin as the original one was, and score the answers. The ' +
      'original threads are not changed.',
    doc:
      'Starts an eval: workers ask each case under each variant, on threads that begin as the original one was, and score the ' +
      'answers. The original threads are not changed.',
    body: EvalDefinition,
    own: {
      tenant: Id.optional().describe(
        'The tenant whose cases are asked; default: the tenant of the library, else `default`.',
      ),
      by,
      from,
    },
    answer: { ...answer, status: 202 },
    errors: [
      ...(['invalid_input', 'dataset_empty', 'unknown_agent', 'unknown_model', 'override_not_allowed'] as const),
      ...(['invalid_policy', 'unknown_window'] as const),
    ],
  },
  list: {
    id: 'listEvals',
    route: 'GET /v1/evals',
    scope: 'read',
    summary: 'List the evals, newest first',
    query: { after, limit: limit(50) },
    answer: { description: 'A page of evals.', schema: pageOf('EvalList', ListedEval) },
  },
  get: {
    id: 'getEval',
    route: 'GET /v1/evals/{eval_id}',
    scope: 'read',
    summary: 'Get an eval with its progress',
    answer,
    errors: ['eval_not_found'],
  },
  items: {
    id: 'listEvalItems',
    route: 'GET /v1/evals/{eval_id}/items',
    scope: 'read',
    summary: 'List the items of an eval; each item is one answer to a case under a variant',
    doc: 'The items in the order in which they run; with `caseId`, those of one case.',
    query: {
      after: whole(-1)
        .optional()
        .describe('Return the items after this number: the `next_after` of the previous page.'),
      limit: limit(100),
      caseId: Id.optional().describe('Only the items of this case.'),
    },
    returns: z.array(ListedEvalItem),
    answer: {
      description: 'A page of items, in the order in which they run.',
      schema: numberedPage('EvalItemList', ListedEvalItem),
    },
    errors: ['eval_not_found', 'invalid_id'],
  },
  report: {
    id: 'reportEval',
    route: 'GET /v1/evals/{eval_id}/report',
    scope: 'read',
    summary: 'Compare the variants of an eval',
    doc: 'Compares the variants, also of an eval that is still running.',
    query: {
      baseline: z
        .string()
        .min(1)
        .max(400)
        .optional()
        .describe('The variant that the others are compared with; default: the first one.'),
      seed: whole(0, 4_294_967_295)
        .optional()
        .describe('Seed of the random samples (bootstrap) from which intervals are computed; default 1.'),
    },
    own: {
      resamples: whole(100, 100_000)
        .optional()
        .describe('Number of random samples (bootstrap) from which intervals are computed; default 2,000.'),
    },
    returns: typed('EvalReport', 'features/evals/report/report.ts', z.unknown()),
    answer: { description: 'The report.', schema: Report },
    errors: ['eval_not_found', 'invalid_input'],
  },
  cancel: {
    id: 'stopEval',
    route: 'POST /v1/evals/{eval_id}/stop',
    summary: 'Cancel an eval and its runs',
    doc: 'Cancels the unfinished runs of the eval. Ended items stay, and the other items are skipped.',
    own: { by },
    answer,
    errors: ['eval_not_found', 'eval_ended'],
  },
  rescore: {
    id: 'rescoreEval',
    route: 'POST /v1/evals/{eval_id}/rescore',
    summary: 'Score the answers of an ended eval again',
    description:
      'Scores by what the cases expect now. An item keeps its scores if its case or its thread no longer exists.',
    own: { by },
    answer,
    errors: ['eval_not_found', 'eval_running'],
  },
  remove: {
    id: 'removeEval',
    route: 'DELETE /v1/evals/{eval_id}',
    summary: 'Remove an ended eval',
    description: 'Workers erase the threads of its runs.',
    own: { by },
    answer: { description: 'The eval is removed.' },
    errors: ['eval_not_found', 'eval_running'],
  },
});
