import { z } from 'zod';
import { anyJson, count, date, jsonObject, named, orNull, typed } from '../../base/operations/schemas.ts';

/* What answers say of the versions of agents, and of which of them serve. */

const shares = z.record(z.string(), z.number().min(0)).meta({
  description: 'Shares by label, relative to their sum. A version with 0 gets no new threads.',
  doc:
    'Shares by label, such as `{ a: 90, b: 10 }`, relative to their sum: one above 0, for 1 to 20 versions. A version with 0 ' +
    'gets no new threads.',
  example: { a: 90, b: 10 },
});
const key = orNull(z.string().max(32)).meta({
  description:
    'The limit key whose value is hashed, so that all threads of a customer get one version; null: the thread.',
});

export const RolloutDefinition = named(
  'NewRollout',
  z
    .strictObject({ shares, key: key.optional() })
    .meta({ doc: 'A rollout, as you set it.', example: { shares: { a: 90, b: 10 } } }),
);

export const ListedRollout = named(
  'Rollout',
  z
    .object({
      agent: z.string(),
      shares,
      key,
      unknown: z.array(z.string()).meta({
        description: 'Labels with a share that no worker has had.',
        doc: 'Labels with a share that no worker has had and that this process does not know.',
      }),
      updatedAt: date('When it was last set.'),
      updatedBy: z.string().describe('`operator`, `key:<id>` or `cli:<user>`.'),
    })
    .meta({ description: 'Which versions of an agent serve its threads.' }),
);

export const ListedVersion = named(
  'AgentVersion',
  z
    .object({
      agent: z.string(),
      id: z.string().meta({ description: 'Hash of its definition.', example: 'v_3f2a9c01d4e5b6a7c8d9e0f1' }),
      label: orNull(z.string()).describe('The label under which a worker last started with this version.'),
      definition: jsonObject('Prompt, model, settings, tools, strategy, policy, output contract and limits.'),
      firstAt: date('When a worker first started with it.'),
      lastAt: date('When a worker last started with it.'),
      since: date(
        'Runs count if they were accepted after this time. At most the newest 10,000 runs of all agents are looked at.',
      ),
      runs: count('Runs that were accepted within `hours`, and not before `since`.', 120),
      completed: z.int(),
      failed: z.int(),
      meanDurationMs: z.number().nullable().describe('The mean time from start to end of the ended runs.'),
      inputTokens: z.int(),
      outputTokens: z.int(),
      cost: z.number().nullable().describe('In US dollars; null if no price is known.'),
      unpricedTokens: z.int().describe('Tokens of models without a known price.'),
    })
    .meta({ description: 'A version of an agent, with counts, duration and cost of its runs.' }),
);

const json = (description: string) => typed('Json', 'agent/context/message.ts', anyJson(description)).optional();

export const VersionChange = z
  .object({
    path: z.string().meta({
      doc: 'Where: names of fields and of tools, joined by dots, such as `settings.temperature` or `tools.refund.description`.',
      example: 'tools.refund.description',
    }),
    from: json('Absent: it was added.'),
    to: json('Absent: it was removed.'),
  })
  .meta({ doc: 'A difference between two versions of an agent.' });
