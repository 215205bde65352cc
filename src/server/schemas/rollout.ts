import { z } from '@hono/zod-openapi';
import { Id, orNull, timestamp } from './values.ts';

const weights = z.record(z.string(), z.number().min(0)).openapi({
  description: 'Shares by label, relative to their sum. A version with 0 gets no new threads.',
  example: { a: 90, b: 10 },
});
const key = orNull(z.string().max(32)).openapi({
  description:
    'The limit key whose value is hashed, so that all threads of a customer get one version; null: the thread.',
});

export const NewRollout = z
  .strictObject({ weights, key: key.optional() })
  .openapi('NewRollout', { example: { weights: { a: 90, b: 10 } } });

export const Rollout = z
  .object({
    agent: z.string(),
    weights,
    key,
    unknown: z.array(z.string()).openapi({ description: 'Versions with a share that no worker has had.' }),
    updated_at: timestamp('When it was last set.'),
    updated_by: z.string().openapi({ description: '`operator`, `key:<id>` or `cli:<user>`.' }),
  })
  .openapi('Rollout', { description: 'Which versions of an agent serve its threads.' });

export const RolloutList = z.object({ data: z.array(Rollout) }).openapi('RolloutList');

export const MovedThread = z
  .strictObject({
    thread_id: Id,
    version: orNull(z.string().min(1).max(64)).openapi({ description: 'A label; null: the rollout chooses again.' }),
  })
  .openapi('MovedThread', { example: { thread_id: 'orders-42', version: 'b' } });
