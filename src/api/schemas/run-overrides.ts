import { z } from '@hono/zod-openapi';
import { jsonObject, whole } from './values.ts';

const names = z.array(z.string().min(1).max(64)).max(1_000);
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
    provider_options: jsonObject('By provider: `{"openai": {…}}`; handed on untouched.').optional(),
    headers: headers.optional().openapi({ description: 'HTTP headers of the model calls.' }),
  })
  .openapi('Settings', {
    description: 'Settings of model calls, by the names of the AI SDK. A model ignores what it does not support.',
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
        .openapi({ description: 'What becomes of an answer that does not fit; default `repair`.' }),
      max_repairs: whole(0, 1_000)
        .optional()
        .openapi({ description: 'Model calls to put the answer right; default 1, more than 3 means 3.' }),
    }),
  ])
  .openapi('OutputContract', {
    description: 'What the answer must be: a JSON object, which becomes the result. `raw`: text.',
    example: { schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
  });

/** What a request may say differently from its agent. */
export const overrides = {
  strategy: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .openapi({ description: 'Instead of the strategy of the agent: `react`, `cot` or `cod`.', example: 'cot' }),
  tools: names.optional().openapi({ description: 'Registered tools by name, instead of those of agent and thread.' }),
  allowed_tools: names
    .optional()
    .openapi({ description: 'Of the tools there are, only these; an empty list for none.' }),
  settings: Settings.optional().openapi({ description: 'Over the settings of the agent, key by key.' }),
  headers: headers.optional().openapi({
    description: 'HTTP headers of the model calls, added to those of the settings. Stored with the run.',
  }),
  request_transformer: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .openapi({ description: 'The name of a transformer of model calls, instead of that of the agent.' }),
  max_iterations: whole(1, 1_000_000).optional().openapi({ description: 'Model calls at most.' }),
  streaming: z.boolean().optional().openapi({ description: 'false asks the model for its whole answer at once.' }),
  idle_timeout_ms: whole(0, 86_400_000)
    .optional()
    .openapi({ description: 'Silence of a model until the run fails; 0 for the tool timeout + 60,000.' }),
  output: Output.optional(),
  tool_timeout_ms: whole(1, 86_400_000).optional().openapi({ description: 'Per attempt of a tool.' }),
};
