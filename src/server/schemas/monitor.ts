import { z } from '@hono/zod-openapi';
import { Id, count, orNull, timestamp } from './values.ts';

const share = (description: string, example: number) => z.number().gt(0).max(1).openapi({ description, example });
const names = (description: string, example: string[]) =>
  z.array(z.string().min(1).max(128)).max(100).openapi({ description, example });

const agents = names('The agents whose runs it scores; empty: all.', ['support']);
const sample = share('The share of the runs that it scores.', 0.2);
const scorers = names('Names of scorers that workers have.', ['short']);
const rubric = z.string().min(1).max(8_000).openapi({ description: 'What the judge looks at.', example: 'Is polite.' });
const judge = z
  .strictObject({ agent: z.string().min(1).max(128), model: z.string().min(1).max(200).optional() })
  .openapi({ description: 'The agent that scores by the rubric.', example: { agent: 'judge' } });
const below = share('The mean score below which an alert is raised.', 0.8);
const of = z.int().min(1).max(1_000).openapi({ description: 'Of how many runs, the last ones.', example: 50 });

export const NewMonitor = z
  .strictObject({
    ...{ agents: agents.optional(), sample: sample.optional(), scorers: scorers.optional() },
    ...{ rubric: rubric.optional(), judge: judge.optional() },
    alert: z.strictObject({ below, of: of.optional() }).optional(),
  })
  .openapi('NewMonitor', {
    example: { agents: ['support'], sample: 0.2, scorers: ['short'], alert: { below: 0.8, of: 50 } },
  });

export const Monitor = z
  .object({
    name: Id,
    tenant: Id.openapi({ description: 'The tenant whose runs it scores.' }),
    ...{
      agents,
      sample,
      scorers,
      rubric: orNull(rubric),
      judge: orNull(judge),
      alert: orNull(z.object({ below, of })),
    },
    scored: count('How many runs have a score since it was set.', 212),
    low_since: orNull(timestamp('Since when its scores are low.')),
    read_to: timestamp('The runs that ended up to then are scored.'),
    created_at: timestamp('When it was first set.'),
    updated_at: timestamp('When it was last changed.'),
    updated_by: z.string().openapi({ description: '`operator`, `key:<id>` or `cli:<user>`.' }),
  })
  .openapi('Monitor');
export const MonitorList = z.object({ data: z.array(Monitor) }).openapi('MonitorList');

export const RunScore = z
  .object({
    ...{ thread_id: Id, run_id: Id, agent: z.string(), agent_version: orNull(z.string()) },
    status: z.enum(['waiting', 'done']).openapi({ description: '`waiting`: for the judge.' }),
    score: orNull(z.number()).openapi({ description: 'The mean of the scores that are not null; 0 for a failed run.' }),
    scores: z.array(
      z.object({
        ...{ scorer: z.string(), version: orNull(z.string()), score: orNull(z.number()) },
        ...{ reason: orNull(z.string()), error: orNull(z.string()) },
      }),
    ),
    ended_at: timestamp('When the run ended.'),
    scored_at: timestamp('When it was scored.'),
  })
  .openapi('RunScore');
export const RunScoreList = z
  .object({ data: z.array(RunScore), next_after: orNull(z.string()).openapi({ description: 'Pass it as `after`.' }) })
  .openapi('RunScoreList');
