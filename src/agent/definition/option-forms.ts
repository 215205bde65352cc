import { z } from 'zod';
import { jsonObject, named, whole } from '../../base/operations/schemas.ts';

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
