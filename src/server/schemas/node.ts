import { z } from '@hono/zod-openapi';
import { Usage } from './usage.ts';
import { anyJson, count, next, orNull } from './values.ts';

const Node = z
  .object({
    node: count('Number of the node, from 1, in the order of creation.', 3),
    parent: z.int().nullable().openapi({ description: 'The node it follows from; 0 is the question of the run.' }),
    depth: z.int().nullable().openapi({ description: 'Only if the strategy builds a tree.' }),
    kind: z.string().openapi({
      description:
        'For an answer, what was asked for, such as `generate`; otherwise `thought`, or the strategy’s name for it.',
      example: 'thought',
    }),
    status: z.string().openapi({
      description: 'For an answer, `answered` or `tools`; for a thought, `open`, `expanded` or `best`.',
      example: 'best',
    }),
    score: z.number().nullable().openapi({ description: 'From 0 to 1, if the strategy scores.' }),
    content: z.string().nullable(),
    call_id: z.string().nullable().openapi({ description: 'For an answer, its model call.' }),
    usage: orNull(Usage).openapi({ description: 'For an answer, its token counters; otherwise null.' }),
    elapsed_ms: z
      .number()
      .nullable()
      .openapi({ description: 'For an answer, when it arrived: milliseconds since the run started.' }),
    data: anyJson('For an answer, its tool rounds; otherwise notes of the strategy.'),
  })
  .openapi('RunNode', { description: 'A finding of a strategy: the answer to a question it asked, or a thought.' });

export const NodePage = z
  .object({ data: z.array(Node), next_after: next })
  .openapi('RunNodePage', { description: 'A page of nodes.' });
