import { z } from 'zod';
import { fallbackReasons } from '../models/fallback-reason.ts';
import { maxAttemptMs, mostModels, type ModelOption } from '../models/model-chain.ts';
import type { ModelName } from '../models/providers.ts';
import { jsonObject, named, typed, whole } from '../../base/operations/schemas.ts';

/** The forms that requests over HTTP give to options of runs. In the library, other forms are read as well. */

const headers = z.record(z.string(), z.string().max(10_000));

export const Settings = named(
  'Settings',
  z
    .strictObject({
      maxOutputTokens: whole(1).optional(),
      temperature: z.number().optional(),
      topP: z.number().optional(),
      topK: z.number().optional(),
      presencePenalty: z.number().optional(),
      frequencyPenalty: z.number().optional(),
      seed: z.int().optional(),
      stopSequences: z.array(z.string()).max(100).optional(),
      reasoning: z.enum(['provider-default', 'none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).optional(),
      providerOptions: jsonObject('Keyed by provider: `{"openai": {…}}`; passed on unchanged.').optional(),
      headers: headers.optional().describe('HTTP headers of the model calls.'),
    })
    .meta({
      description: 'Settings of model calls, named as in the AI SDK. A model ignores those it does not support.',
      example: { maxOutputTokens: 500, temperature: 0 },
    }),
);

const modelName = typed(
  'ModelName',
  'agent/models/providers.ts',
  z.string().min(1).max(10_000) as z.ZodType<ModelName>,
);
const attemptMs = whole(1, maxAttemptMs);

/** The models that may answer; in the library, `readChain` checks it. */
export const Models = typed(
  'ModelOption',
  'agent/models/model-chain.ts',
  z.union([
    modelName,
    z.array(modelName).min(1).max(mostModels),
    named(
      'ModelFallback',
      z
        .strictObject({
          try: z.array(modelName).min(1).max(mostModels).describe('The models, in the order in which they are tried.'),
          on: z
            .array(z.enum(fallbackReasons))
            .optional()
            .describe('The failures of the first model after which the next one is asked; default: all but `limit`.'),
          firstTokenMs: attemptMs.optional().describe('How long a streamed answer may take to begin.'),
          attemptMs: attemptMs.optional().describe('How long one attempt at one model may take.'),
          sticky: z
            .union([z.enum(['run', 'thread']), z.literal(false)])
            .optional()
            .describe(
              'Which model the next call begins with: `run` (default), in this run the one that answered last; `thread`, also in later runs of the lane; false, the first.',
            ),
        })
        .meta({
          description: 'Models of which each stands in for those before it.',
          example: { try: ['anthropic:claude-sonnet-5', 'openai:gpt-5'], firstTokenMs: 8_000 },
        }),
    ),
  ]) as unknown as z.ZodType<ModelOption>,
);

export const Output = named(
  'OutputContract',
  z
    .union([
      z.literal('raw'),
      z.strictObject({ mode: z.literal('raw') }),
      z.strictObject({
        schema: jsonObject('The JSON Schema of an object with properties.'),
        name: z.string().min(1).max(64).optional(),
        description: z.string().max(10_000).optional(),
        mode: z
          .enum(['repair', 'error'])
          .optional()
          .describe('What to do with an answer that violates the contract; default `repair`.'),
        maxRepairs: whole(0, 1_000)
          .optional()
          .describe('Maximum repairs of the answer; default 1. Values above 3 count as 3.'),
      }),
    ])
    .meta({
      description: 'Requires the answer to be a JSON object, which becomes the result. `raw`: text.',
      example: { schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
    }),
);
