import { z } from '@hono/zod-openapi';
import { Usage } from './usage.ts';
import { anyJson, count, next, orNull } from './values.ts';

const Node = z
  .object({
    node: count('From 1, in the order in which the strategy asked and concluded.', 3),
    parent: z.int().nullable().openapi({ description: 'The node it follows from; 0 is the question of the run.' }),
    depth: z.int().nullable().openapi({ description: 'Only where the strategy builds a tree.' }),
    kind: z.string().openapi({
      description: 'What was asked for, such as `generate`; or `thought`, or what the strategy calls it.',
      example: 'thought',
    }),
    status: z.string().openapi({
      description: 'Of an answer `answered` or `tools`; of a thought `open`, `expanded` or `best`.',
      example: 'best',
    }),
    score: z.number().nullable().openapi({ description: '0 to 1, where the strategy scores.' }),
    content: z.string().nullable(),
    call_id: z.string().nullable().openapi({ description: 'The model call of an answer.' }),
    usage: orNull(Usage).openapi({ description: 'Of an answer.' }),
    elapsed_ms: z.number().nullable().openapi({ description: 'When an answer came, since the run started.' }),
    data: anyJson('Tool rounds of an answer; otherwise notes of the strategy.'),
  })
  .openapi('RunNode', { description: 'What a strategy found out: the answer to a question it asked, or a thought.' });

export const NodePage = z
  .object({ data: z.array(Node), next_after: next })
  .openapi('RunNodePage', { description: 'A page of nodes.' });
