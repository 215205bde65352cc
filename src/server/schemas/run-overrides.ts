import { z } from '@hono/zod-openapi';
import { ContextPolicy } from './context-policy.ts';
import { maxCostLimit } from '../../agent/definition/cost.ts';
import { maxIterationsLimit, maxTimeoutMs } from '../../runs/operations/runs/check-overrides.ts';
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

/** The version of an agent, for requests. */
export const version = z.string().min(1).max(64).openapi({
  description: 'The version of the agent: a label or an id. Default: what its rollout chooses.',
  example: 'b',
});

/** Fields of a request that override its agent's, if the agent lists them as overridable. */
export const overrides = {
  strategy: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .openapi({ description: 'Overrides the strategy of the agent.', example: 'cot' }),
  strategy_options: jsonObject(
    'Options of the strategy, merged over the agent’s if it has the same strategy.',
  ).optional(),
  tools: names
    .optional()
    .openapi({ description: 'Names of the tools to use instead of the tools of agent and thread.' }),
  allowed_tools: names
    .optional()
    .openapi({ description: 'Restricts the available tools to these; an empty array allows none.' }),
  settings: Settings.optional().openapi({ description: 'Overrides the settings of the agent, key by key.' }),
  headers: headers.optional().openapi({
    description: 'HTTP headers of the model calls, merged with those in the settings. Stored with the run.',
  }),
  request_transformer: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .openapi({ description: 'Name of the request transformer to use instead of the agent’s.' }),
  context_policy: ContextPolicy.optional().openapi({ description: 'Replaces the context policy of agent and thread.' }),
  max_iterations: whole(1, maxIterationsLimit).optional().openapi({ description: 'Maximum number of iterations.' }),
  max_total_tokens: whole(1, Number.MAX_SAFE_INTEGER)
    .optional()
    .openapi({ description: 'Tokens of input and output after which the run ends with the best result it has.' }),
  max_cost: z.number().positive().max(maxCostLimit).optional().openapi({
    description:
      'What the model calls may cost, in US dollars: the run ends with the best result it has before a call that could cost more than is left.',
  }),
  max_duration_ms: whole(1, Number.MAX_SAFE_INTEGER)
    .optional()
    .openapi({ description: 'Time after its start at which the run ends with the best result it has.' }),
  streaming: z.boolean().optional().openapi({ description: 'Whether the model streams its answer.' }),
  idle_timeout_ms: whole(0, maxTimeoutMs)
    .optional()
    .openapi({ description: 'How long a model may stay silent before the run fails; 0: the tool timeout + 60,000.' }),
  output: Output.optional(),
  tool_timeout_ms: whole(1, maxTimeoutMs).optional().openapi({ description: 'Time limit of one tool attempt.' }),
};
