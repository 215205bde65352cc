import { z } from '@hono/zod-openapi';
import { ContextPolicy } from './context-policy.ts';
import { runOptions, type RunOption } from '../../agent/definition/option-table.ts';
import { optionsWith, type OptionsWith } from '../../agent/definition/options.ts';
import { toSnakeCase, type SnakeCase } from '../../base/common/case.ts';
import { wireSchema, type WireSchema } from '../declared/wire-schema.ts';
import { jsonObject, whole } from './values.ts';

const headers = z.record(z.string(), z.string().max(10_000));

export const Settings = z
  .strictObject({
    max_output_tokens: whole(1).optional(),
    temperature: z.number().optional(),
    top_p: z.number().optional(),
    top_k: z.number().optional(),
    presence_penalty: z.number().optional(),
    frequency_penalty: z.number().optional(),
    seed: z.int().optional(),
    stop_sequences: z.array(z.string()).max(100).optional(),
    reasoning: z.enum(['provider-default', 'none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).optional(),
    provider_options: jsonObject('Keyed by provider: `{"openai": {…}}`; passed on unchanged.').optional(),
    headers: headers.optional().openapi({ description: 'HTTP headers of the model calls.' }),
  })
  .openapi('Settings', {
    description: 'Settings of model calls, named as in the AI SDK. A model ignores those it does not support.',
    example: { max_output_tokens: 500, temperature: 0 },
  });

export const Output = z
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
        .openapi({ description: 'What to do with an answer that violates the contract; default `repair`.' }),
      max_repairs: whole(0, 1_000)
        .optional()
        .openapi({ description: 'Maximum repairs of the answer; default 1. Values above 3 count as 3.' }),
    }),
  ])
  .openapi('OutputContract', {
    description: 'Requires the answer to be a JSON object, which becomes the result. `raw`: text.',
    example: { schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
  });

/** Options of runs that have another form over HTTP, field by field in snake_case. */
export const forms = { settings: Settings, contextPolicy: ContextPolicy, output: Output };

type Forms = typeof forms;
type Options = typeof runOptions;

/** Options of runs as fields of a body. An agent must list those that override it as overridable. */
export const runFields = Object.fromEntries(
  Object.entries<RunOption>(runOptions).map(([name, { schema }]) => {
    const form = name in forms ? forms[name as keyof Forms].optional() : z.optional(wireSchema(schema));
    const about = schema.meta();
    return [toSnakeCase(name), about ? form.openapi(about) : form];
  }),
) as unknown as {
  [NAME in keyof Options as SnakeCase<NAME>]: z.ZodOptional<
    NAME extends keyof Forms ? Forms[NAME] : WireSchema<Options[NAME]['schema']>
  >;
};

type Fields = typeof runFields;

/** The fields of the options of which the table says `trait`. */
export const runFieldsWith = <const TRAIT extends Partial<RunOption>>(trait: TRAIT) =>
  Object.fromEntries(
    optionsWith(trait).map((name) => [toSnakeCase(name), runFields[toSnakeCase(name) as keyof Fields]]),
  ) as unknown as Pick<Fields, Extract<keyof Fields, SnakeCase<keyof OptionsWith<TRAIT> & string>>>;
