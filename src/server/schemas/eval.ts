import { z } from '@hono/zod-openapi';
import { runFields, runFieldsWith } from './run-overrides.ts';
import { anyJson, count, Id, jsonObject, nextCursor, orNull, timestamp, whole } from './values.ts';

const word = z.string().min(1).max(128);

const Variant = z
  .strictObject({
    name: z.string().min(1).max(100).optional().openapi({ description: 'Default: made of the other fields.' }),
    agent: word.optional().openapi({ description: 'Default: the agent of the case.' }),
    version: runFields.version,
    model: runFields.model,
    context_policy: runFields.context_policy,
    system_prompt: orNull(z.string())
      .optional()
      .openapi({ description: 'Replaces the prompt of the lane; null: none.' }),
  })
  .openapi('EvalVariant', { example: { name: 'short', context_policy: 'short_context' } });

const fields = {
  dataset: Id.openapi({ example: 'refunds' }),
  tag: word.optional().openapi({ description: 'Only cases with this tag.' }),
  split: word.optional().openapi({ description: 'Only cases of this part.' }),
  variants: z
    .array(Variant)
    .min(1)
    .max(20)
    .optional()
    .openapi({
      description: 'What is compared; the first one is the baseline. Default: one, `current`, that changes nothing.',
      example: [{ name: 'current' }, { name: 'short', context_policy: 'short_context' }],
    }),
  repeats: whole(1, 20)
    .optional()
    .openapi({ description: 'How often each case is asked under each variant; default 1.' }),
  tools: z
    .enum(['recorded', 'live', 'stubs'])
    .optional()
    .openapi({
      description:
        'What tools return: what they did in the original run (`recorded`, default), what they return now if they are safe to ' +
        'run again (`live`), or what `stubs` has.',
    }),
  stubs: jsonObject('What each tool returns, by its name.')
    .optional()
    .openapi({ example: { policy: '30 days' } }),
  concurrency: whole(1, 100).optional().openapi({ description: 'How many runs at once; default 4.' }),
  ...runFieldsWith({ evals: 'bound' }),
  max_cost: runFields.max_cost.openapi({ description: 'What its runs together may cost, in US dollars.', example: 5 }),
  priority: runFields.priority.openapi({ description: 'Priority of its runs; default 1,000.' }),
  fresh: z
    .boolean()
    .optional()
    .openapi({ description: 'Ask again also what an earlier eval has asked; default false.' }),
  judge: z
    .strictObject({ agent: word, model: runFields.model })
    .optional()
    .openapi({
      description: 'The agent that scores answers by `expected.rubric`.',
      example: { agent: 'judge' },
    }),
};

export const NewEval = z
  .strictObject(fields)
  .openapi('NewEval', { example: { dataset: 'refunds', variants: [{ name: 'current' }], repeats: 3 } });

const amount = (status: string) => count(`Items that are ${status}.`, 0);

export const Eval = z
  .object({
    id: Id,
    tenant: Id,
    dataset: Id,
    status: z.enum(['running', 'completed', 'cancelled']),
    spec: jsonObject('As it was asked for, with defaults.'),
    items: z.object({
      waiting: amount('waiting'),
      running: amount('running'),
      scoring: amount('being scored'),
      done: amount('done'),
      failed: amount('failed'),
      skipped: amount('skipped'),
      erased: amount('erased'),
    }),
    unattended: z.array(z.string()).openapi({
      description: 'What waiting items need but no live worker has: `agent`, or `agent@version`.',
      example: [],
    }),
    cost_micros: count('In millionths of a US dollar, as far as prices are known.', 120),
    created_by: z.string().openapi({ description: '`operator`, `key:<id>` or `cli:<user>`.' }),
    created_at: timestamp('When it was started.'),
    finished_at: orNull(timestamp('When its last item was settled.')),
  })
  .openapi('Eval');

export const EvalList = z.object({ data: z.array(Eval), next_after: nextCursor }).openapi('EvalList');

const Score = z
  .object({
    scorer: z.string(),
    version: orNull(z.string()),
    score: orNull(z.number()).openapi({ description: 'From 0 to 1; null: it does not apply, or failed.' }),
    reason: orNull(z.string()),
    error: orNull(z.string()),
  })
  .openapi('Score');

const maybe = (description: string) => orNull(z.number()).openapi({ description });

export const EvalItem = z
  .object({
    no: count('Its place.', 1),
    case_id: Id,
    tags: z.array(z.string()),
    variant: z.string(),
    agent: z.string(),
    repeat: count('From 1.', 1),
    status: z.enum(['waiting', 'running', 'scoring', 'done', 'failed', 'skipped', 'erased']),
    answer: orNull(z.string()),
    scores: z.array(Score),
    duration_ms: maybe('Of its run.'),
    input_tokens: maybe('Of its run.'),
    output_tokens: maybe('Of its run.'),
    estimated_tokens: maybe('How many of both are estimates, because the provider did not count them; null for none.'),
    cost_micros: maybe('In millionths of a US dollar; 0 if the answer is reused; null if the price is unknown.'),
    ended_by: orNull(z.string()).openapi({
      description: 'The limit that ended its run before an answer, such as `max_iterations`; null if none did.',
    }),
    diverged: orNull(z.string()).openapi({ description: 'The first tool call that the recorded run lacks.' }),
    reused: z.boolean().openapi({ description: 'Whether the answer is that of an earlier eval.' }),
    error: orNull(z.string()).openapi({ description: 'Why it failed, or was skipped.' }),
    thread_id: orNull(Id),
    run_id: orNull(Id),
    judge_thread_id: orNull(Id),
    judge_run_id: orNull(Id),
    settled_at: orNull(timestamp('When it was settled.')),
  })
  .openapi('EvalItem');

export const EvalItemList = z
  .object({ data: z.array(EvalItem), next_after: z.int().nullable().openapi({ example: 100 }) })
  .openapi('EvalItemList');

export const EvalReport = z
  .object({
    format: z.int().openapi({ description: 'Changes if the meaning of a field does.' }),
    baseline: orNull(z.string()),
    variants: anyJson('The results of each variant.'),
    comparisons: anyJson('The baseline with each other variant: by case, worse ones first, and by tag.'),
    seed: z.int(),
    resamples: z.int(),
  })
  .openapi('EvalReport');
