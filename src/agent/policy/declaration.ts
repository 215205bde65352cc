import { z } from 'zod';
import { isBlank } from '../../base/checks/values.ts';
import { named, ofRequests, whole } from '../../base/operations/schemas.ts';

export const ContentKind = z.enum(['message', 'tool_call', 'tool_result', 'summary']).meta({
  doc: 'The kinds of messages a policy can include. `tool_call` and `tool_result` both mean the whole tool group.',
});

const described = <Schema extends z.ZodType>(schema: Schema, description: string, doc: string) =>
  schema.optional().meta({ description, doc });
const said = <Schema extends z.ZodType>(schema: Schema, doc: string) => schema.optional().meta({ doc });

export const ContextPolicy = z
  .strictObject({
    maxInputTokens: z
      .union([whole(1, 100_000_000), z.literal('window')])
      .nullable()
      .optional()
      .describe(
        'Tokens of request and answer together. Default: the window of the model, or no limit if that is unknown; `window` rejects a model whose window is unknown; null: no limit.',
      ),
    reserveOutputTokens: described(
      whole(0, 100_000_000),
      'Left for the answer. Default: 2,000, at most a third of the limit; of a window, `max_output_tokens` of the settings, or else an eighth, at most 32,000.',
      'Tokens of `maxInputTokens` that are reserved for the answer. Default: 2,000, at most a third of the limit; of a ' +
        'window, an eighth, at most 32,000, unless the settings of the call have `maxOutputTokens`.',
    ),
    maxMessages: whole(0, 1_000_000).optional().describe('Maximum messages besides the system prompt; 0: no limit.'),
    keepLastTurns: described(
      whole(0, 1_000_000),
      'Newest turns to keep whole, even over budget; default 3.',
      'The newest turns to keep whole, even over budget; default 3. A turn is a user message and what follows it. The ' +
        'newest user message is always kept.',
    ),
    summarization: described(
      z.enum(['none', 'use_existing', 'request_new']),
      '`use_existing` (default) sends the summary of a compaction, `none` leaves it out, `request_new` also makes one: a run over budget compacts its lane.',
      'What to do with the summary of a compaction: `use_existing` (default) keeps it at the start, `none` leaves it out. ' +
        '`request_new` also makes one: a run whose context is over budget compacts its lane between rounds, and cuts its ' +
        'context only if that fails.',
    ),
    compactAt: z
      .number()
      .gt(0)
      .max(1)
      .optional()
      .describe('Share of the budget at which a run requests a compaction of its lane when it ends; default: none.'),
    summaryRole: said(z.enum(['system', 'user']), 'The role the summary is sent with; default `system`.'),
    includeKinds: said(z.array(ContentKind).max(4), 'Default: all.'),
    systemPrompt: said(
      z
        .string()
        .min(1)
        .max(1_000_000)
        .refine((text) => !isBlank(text), 'is blank'),
      'Sent instead of the system prompt of the lane. For an agent, use `instructions`.',
    ),
    tokenEstimator: described(
      z.string().min(1).max(200),
      '`heuristic`, `calibrated` (default), `exact`, or the name of a custom estimator of the server.',
      'How tokens are counted: `heuristic` (bytes / 4), `calibrated` (the heuristic, corrected by what the provider ' +
        'counted; default), `exact` (the tokenizer of the model, if one is published; else `calibrated`), or the name of a ' +
        'custom estimator.',
    ),
    projector: said(z.string().min(1).max(200), 'The name of a custom projector, which chooses the messages instead.'),
  })
  .meta({
    doc: 'How a context is cut before a model call. Every field has a default; unknown fields are rejected.',
  });

export const PolicyPreset = z.enum(['window', 'short_context', 'long_context', 'tool_focused']);

/** `readPolicy` reads what the library is given, with an error of its own. */
export const PolicyOption = ofRequests(
  named(
    'ContextPolicy',
    z.union([PolicyPreset, ContextPolicy]).meta({
      description: 'How the context is cut before a model call: a preset, or fields.',
      doc: 'A policy, or the name of a preset.',
      example: { maxInputTokens: 16_000, keepLastTurns: 2 },
    }),
  ),
);
