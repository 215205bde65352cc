import { z } from '@hono/zod-openapi';
import { anyJson, count, jsonObject, orNull, timestamp } from './values.ts';

const id = z.string().openapi({ description: 'Hash of its definition.', example: 'v_3f2a9c01d4e5b6a7c8d9e0f1' });

export const AgentVersion = z
  .object({
    agent: z.string(),
    id,
    label: orNull(z.string()).openapi({ description: 'Under which a worker last started with it.' }),
    definition: jsonObject('Prompt, model, settings, tools, strategy, policy, output contract and limits.'),
    first_at: timestamp('When a worker first started with it.'),
    last_at: timestamp('When a worker last started with it.'),
    since: timestamp(
      'The runs that were accepted since then are counted: at most the newest 10,000 runs of all agents.',
    ),
    runs: count('Runs that were accepted within `hours`, and `since` then.', 120),
    completed: z.int(),
    failed: z.int(),
    mean_duration_ms: z.number().nullable().openapi({ description: 'Of ended runs, from their start.' }),
    input_tokens: z.int(),
    output_tokens: z.int(),
    cost: z.number().nullable().openapi({ description: 'In US dollars; null if no price is known.' }),
    unpriced_tokens: z.int().openapi({ description: 'Tokens of models without a known price.' }),
  })
  .openapi('AgentVersion', { description: 'A version of an agent, and what its runs came to.' });

export const AgentVersionList = z.object({ data: z.array(AgentVersion) }).openapi('AgentVersionList');

export const AgentVersionDiff = z
  .object({
    data: z.array(
      z.object({
        path: z.string().openapi({ example: 'tools.refund.description' }),
        from: anyJson('Absent: it was added.').optional(),
        to: anyJson('Absent: it was removed.').optional(),
      }),
    ),
  })
  .openapi('AgentVersionDiff');
