import { z } from 'zod';
import { optionFields } from '../../agent/definition/options.ts';
import { noun } from '../../base/operations/operation.ts';
import { after, by, count, date, Id, named, orNull, tenantOf, text, whole } from '../../base/operations/schemas.ts';
import { Score } from '../evals/store/declaration.ts';
import { scorerName } from '../evals/scorers/scorer.ts';

const { model } = optionFields({});
const share = (description: string, example: number) => z.number().gt(0).max(1).meta({ description, example });
const scorer = text(128).refine((name) => scorerName.test(name), 'Must be the name of a scorer.');

const settings = {
  agents: z
    .array(text(128))
    .max(100)
    .meta({
      description: 'The agents whose runs it scores; empty: all.',
      example: ['support'],
    }),
  sample: share('The share of the runs that it scores.', 0.2),
  scorers: z
    .array(scorer)
    .max(100)
    .meta({
      description: 'Names of scorers that workers have.',
      doc: 'Names of scorers that workers have; see `defineScorer`. A worker that lacks a scorer leaves the monitor to other workers.',
      example: ['short'],
    }),
  rubric: text(8_000).meta({ description: 'What the judge looks at.', example: 'Is polite.' }),
  judge: z.strictObject({ agent: text(128), model }).meta({
    description: 'The agent that scores by the rubric, and its models.',
    example: { agent: 'judge' },
  }),
};
const alert = {
  below: share('The mean score below which an alert is raised.', 0.8),
  of: whole(1, 1_000).meta({
    description: 'How many of the last runs count for the mean score.',
    doc: 'How many of the last runs count for the mean score; default 50. An alert begins or ends at most once in so many runs.',
    example: 50,
  }),
};

export const MonitorAlert = z
  .strictObject({ below: alert.below, of: alert.of.optional() })
  .meta({ doc: 'When the scores of a monitor are low: webhooks get `monitor.low` and `monitor.recovered`.' });

export const MonitorDefinition = named(
  'NewMonitor',
  z.strictObject({ ...z.object(settings).partial().shape, alert: MonitorAlert.optional() }).meta({
    doc: 'A monitor, as you set it.',
    example: { agents: ['support'], sample: 0.2, scorers: ['short'], alert: { below: 0.8, of: 50 } },
  }),
);

export const ListedMonitor = named(
  'Monitor',
  z
    .object({
      name: Id,
      tenant: Id.describe('The tenant whose runs it scores.'),
      ...settings,
      rubric: orNull(settings.rubric),
      judge: orNull(settings.judge),
      alert: orNull(z.object(alert)),
      scored: count('How many runs were scored since the monitor was set.', 212),
      lowSince: orNull(date('Since when its scores are low.')),
      readTo: date('The monitor has scored all runs that ended before this time.'),
      createdAt: date('When it was first set.'),
      updatedAt: date('When it was last changed.'),
      updatedBy: z.string().describe('`operator`, `key:<id>` or `cli:<user>`.'),
    })
    .meta({ doc: 'A monitor with its state. If `readTo` stalls, no worker has its scorers or its judge.' }),
);

export const RunScore = named(
  'RunScore',
  z
    .object({
      threadId: Id,
      runId: Id,
      agent: z.string(),
      agentVersion: orNull(z.string()),
      status: z.enum(['waiting', 'done']).describe('`waiting`: the judge has not scored the run yet.'),
      score: orNull(z.number()).describe('The mean of the scores that are not null; 0 for a failed run.'),
      scores: z.array(Score),
      endedAt: date('When the run ended.'),
      scoredAt: date('When it was scored.'),
    })
    .meta({ doc: 'The score that a monitor gave a run.' }),
);

const RunScoreList = named(
  'RunScoreList',
  z.object({ data: z.array(RunScore), nextAfter: orNull(z.string()).describe('Pass it as `after`.') }),
);

const tenant = tenantOf('monitor');
const answer = { description: 'The monitor.', schema: ListedMonitor };
const errors = ['monitor_not_found'] as const;

export const monitors = noun('monitors', 'Monitors', {
  list: {
    id: 'listMonitors',
    route: 'GET /v1/monitors',
    scope: 'read',
    summary: 'List the monitors',
    description: 'A key of a tenant sees the monitors of the tenant.',
    answer: { description: 'The monitors, by tenant and name.', schema: z.array(ListedMonitor) },
  },
  get: {
    id: 'getMonitor',
    route: 'GET /v1/monitors/{name}',
    scope: 'read',
    summary: 'Get a monitor',
    query: { tenant },
    answer,
    errors,
  },
  set: {
    id: 'setMonitor',
    route: 'PUT /v1/monitors/{name}',
    summary: 'Set or change a monitor',
    description: 'Workers score a share of the runs that end from now on. A change keeps the scores.',
    doc:
      'Sets or changes a monitor: workers score a share of the runs that end from now on. Setting it to what it is changes ' +
      'nothing. A change keeps its scores, closes its alert without an event and restarts the count of the alert.\n\n' +
      "@example\nawait lanefold.monitors.set('short-answers', { agents: ['support'], sample: 0.2, scorers: ['short'] });",
    query: { tenant },
    body: MonitorDefinition,
    own: { by },
    answer,
    errors: ['invalid_input'],
  },
  remove: {
    id: 'removeMonitor',
    route: 'DELETE /v1/monitors/{name}',
    summary: 'Remove a monitor and its scores',
    query: { tenant },
    own: { by },
    answer: { description: 'The monitor is removed.' },
    errors,
  },
  scores: {
    id: 'listRunScores',
    route: 'GET /v1/monitors/{name}/scores',
    scope: 'read',
    summary: 'List the scores that a monitor gave to runs, newest first',
    query: {
      tenant,
      after: z.string().max(600).optional().meta({ doc: after.description }),
      limit: whole(1, 1_000).optional().describe('Maximum number of scores; default 50.'),
      below: z.number().min(0).max(1).optional().describe('Only runs with a lower score.'),
    },
    answer: { description: 'The scores.', schema: RunScoreList },
    errors,
  },
});
