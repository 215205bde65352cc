import { z } from 'zod';
import { optionFields } from '../../../agent/definition/options.ts';
import { runOptions } from '../../../agent/definition/option-table.ts';
import { count, date, Id, jsonObject, named, orNull, text, whole } from '../../../base/operations/schemas.ts';

const word = z.string().min(1).max(128);
const { version, model, contextPolicy } = optionFields({});

export const EvalVariant = named(
  'EvalVariant',
  z
    .strictObject({
      name: text(100).optional().describe('Default: a name made from the other fields.'),
      agent: word.optional().describe('Default: the agent of the case.'),
      version: version.meta({ doc: 'The version of the agent: a label or an id. Default: the first one.' }),
      model: model.meta({
        doc: 'Default: the model that the original run named, or else the model of the agent. The same holds for the strategy.',
      }),
      contextPolicy,
      systemPrompt: orNull(z.string()).optional().describe('Replaces the prompt of the lane; null: none.'),
    })
    .meta({
      doc: 'Changes under which the cases are asked again. Absent fields follow the agent as it is now.',
      example: { name: 'short', contextPolicy: 'short_context' },
    }),
);

export const EvalTools = z
  .enum(['recorded', 'live', 'stubs'])
  .meta({ doc: 'What tools return in the runs of an eval.' });

const fields = {
  dataset: Id.meta({ doc: 'The dataset whose cases are asked.', example: 'refunds' }),
  tag: word.optional().describe('Only cases with this tag.'),
  split: word.optional().describe('Only cases of this part.'),
  caseIds: z
    .array(Id)
    .min(1)
    .max(100)
    .optional()
    .meta({
      description: 'Only these cases of the dataset. An id that is not among its cases is refused.',
      example: ['case_01k7uumg'],
    }),
  variants: z
    .array(EvalVariant)
    .min(1)
    .max(20)
    .optional()
    .meta({
      description:
        'The variants to compare; the first variant is the baseline. Default: one variant, `current`, without changes.',
      example: [{ name: 'current' }, { name: 'short', contextPolicy: 'short_context' }],
    }),
  repeats: whole(1, 20).optional().describe('How often each case is asked under each variant; default 1.'),
  tools: EvalTools.optional().meta({
    description:
      'What tools return: what they did in the original run (`recorded`, default), what they return now if they are safe to ' +
      'run again (`live`), or what `stubs` has.',
    doc:
      '`recorded` (default): what they returned in the original run, by name and arguments. `live`: tools with ' +
      "`replay: 'safe'` or `'readOnly'` run, others fail. `stubs`: what `stubs` has for their name.",
  }),
  stubs: jsonObject('What each tool returns, by its name.')
    .optional()
    .meta({ example: { policy: '30 days' } }),
  concurrency: whole(1, 100).optional().describe('How many runs execute at once; default 4.'),
  ...optionFields({ evals: 'bound' }),
  maxCost: runOptions.maxCost.schema.optional().meta({
    description: 'What all runs of the eval together may cost, in US dollars.',
    doc:
      'What all its runs together may cost, in US dollars; those of judges do not count. Items that it does not pay are ' +
      'skipped, and so are those of models without a known price. A lower limit of the agent stays.',
    example: 5,
  }),
  priority: runOptions.priority.schema.optional().meta({
    description: 'Priority of its runs; default 1,000.',
    doc: 'Priority of its runs; default 1,000, which is behind the runs of users with priority 0.',
  }),
  fresh: z.boolean().optional().meta({
    description: 'Ask every case again, even if an earlier eval has an answer; default false.',
    doc: 'Ask every case again, even if an earlier eval has an answer for the same variant; default false.',
  }),
  judge: z
    .strictObject({ agent: word, model })
    .optional()
    .meta({
      description: 'The agent that scores answers by `expected.rubric`.',
      doc: 'The agent that scores answers by `expected.rubric`, and its model.',
      example: { agent: 'judge' },
    }),
};

export const EvalDefinition = named(
  'NewEval',
  z.strictObject(fields).meta({
    doc: 'What an eval asks.',
    example: { dataset: 'refunds', variants: [{ name: 'current' }], repeats: 3 },
  }),
);

const amount = (status: string) => count(`Items that are ${status}.`, 0);

export const ListedEval = named(
  'Eval',
  z
    .object({
      id: Id,
      tenant: Id,
      dataset: Id,
      status: z.enum(['running', 'completed', 'cancelled']),
      spec: EvalDefinition.meta({ doc: 'The request of the eval, with defaults filled in.' }),
      items: z
        .object({
          waiting: amount('waiting'),
          running: amount('running'),
          scoring: amount('being scored'),
          done: amount('done'),
          failed: amount('failed'),
          skipped: amount('skipped'),
          erased: amount('erased'),
        })
        .meta({ doc: 'How many items are in each status.' }),
      unattended: z.array(z.string()).meta({
        description: 'What waiting items need but no live worker has: `agent`, or `agent@version`.',
        example: [],
      }),
      costMicros: count('The cost in millionths of a US dollar, without models whose price is unknown.', 120),
      createdBy: z.string().describe('`operator`, `key:<id>` or `cli:<user>`.'),
      createdAt: date('When it was started.'),
      finishedAt: orNull(date('When its last item was settled.')),
    })
    .meta({
      description: 'An eval with its progress. `spec` is the request of the eval, with defaults filled in.',
      doc: 'An eval with its progress.',
    }),
);

export const Score = named(
  'Score',
  z
    .object({
      scorer: z.string(),
      version: orNull(z.string()).meta({
        doc: 'The version of the scorer when it gave the score; null if it has none.',
      }),
      score: orNull(z.number()).meta({
        description: 'From 0 to 1; null: the scorer does not apply or has failed.',
        doc: '0 to 1; null if the scorer does not apply to the case, or failed (`error` says which).',
      }),
      reason: orNull(z.string()),
      error: orNull(z.string()).meta({ doc: 'Why the scorer failed, as a sentence; null if it did not.' }),
      model: z
        .string()
        .optional()
        .meta({ description: 'Of a judge: the model that answered.', example: 'openai:gpt-5' }),
    })
    .meta({ doc: 'The score that a scorer gave an answer.' }),
);

export const EvalItemStatus = z.enum(['waiting', 'running', 'scoring', 'done', 'failed', 'skipped', 'erased']);

const maybe = (description: string) => orNull(z.number()).describe(description);

const item = {
  caseId: Id,
  tags: z.array(z.string()),
  variant: z.string(),
  repeat: count('Number of the repeat, from 1.', 1),
  status: EvalItemStatus.meta({
    doc:
      '`failed` if the run failed; `skipped` if the eval was cancelled, or its budget used up, before it had an answer; ' +
      '`erased` if the thread of the case was erased.',
  }),
  answer: orNull(z.string()),
  scores: z.array(Score),
  durationMs: maybe('Of its run.'),
  inputTokens: maybe('Of its run.'),
  outputTokens: maybe('Of its run.'),
  estimatedTokens: maybe('How many of both are estimates, because the provider did not count them; null for none.'),
  costMicros: maybe('In millionths of a US dollar; 0 if the answer is reused; null if the price is unknown.'),
  endedBy: orNull(z.string()).meta({
    description: 'The limit that ended its run before an answer, such as `max_iterations`; null if none did.',
    doc:
      'The limit that ended the run before it had an answer, such as `max_iterations`; null if none did. A case of a call ' +
      'asks for one message of the model, so a tool call answers it.',
  }),
  diverged: orNull(z.string()).meta({
    description: 'The first tool call that the recorded run lacks.',
    doc: 'The first difference from the recorded run; null if there is none.',
  }),
  reused: z.boolean().describe('Whether the answer is that of an earlier eval.'),
  error: orNull(z.string()).describe('Why the item failed or was skipped.'),
};

export const EvalItem = z
  .object({ ...item, estimatedTokens: item.estimatedTokens.optional() })
  .meta({ doc: 'One case, run once under one variant.' });

export const ListedEvalItem = named(
  'EvalItem',
  z
    .object({
      no: count('Place of the item in the eval, from 1.', 1),
      ...item,
      agent: z.string(),
      threadId: orNull(Id),
      runId: orNull(Id),
      judgeThreadId: orNull(Id),
      judgeRunId: orNull(Id),
      settledAt: orNull(date('When it was settled.')),
    })
    .meta({ doc: 'An item with its runs.' }),
);
