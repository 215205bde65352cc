import { z } from 'zod';
import { count, named, orNull } from '../../../base/operations/schemas.ts';
import { json, Usage } from '../run/declaration.ts';

export const RunNode = named(
  'RunNode',
  z
    .object({
      node: count('Number of the node, from 1, in the order of creation.', 3),
      parent: z.int().nullable().describe('The node from which this node follows; 0 is the question of the run.'),
      depth: z.int().nullable().describe('Only if the strategy builds a tree.'),
      kind: z.string().meta({
        description:
          'For an answer, what was asked for, such as `generate`; otherwise `thought`, or the strategy’s name for it.',
        example: 'thought',
      }),
      status: z.string().meta({
        description: 'For an answer, `answered` or `tools`; for a thought, `open`, `expanded` or `best`.',
        example: 'best',
      }),
      score: z.number().nullable().describe('From 0 to 1, if the strategy scores.'),
      content: z.string().nullable(),
      callId: z.string().nullable().describe('For an answer, its model call.'),
      usage: orNull(Usage).describe('For an answer, its token counters; otherwise null.'),
      elapsedMs: z.number().nullable().describe('For an answer, when it arrived: milliseconds since the run started.'),
      data: json('For an answer, its tool rounds; otherwise notes of the strategy.'),
    })
    .meta({ description: 'A finding of a strategy: a thought, or the answer to a question that the strategy asked.' }),
);
