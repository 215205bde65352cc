import { createRoute, z } from '@hono/zod-openapi';
import { LanefoldError } from '../../base/errors.ts';
import type { ApiApp } from '../env.ts';
import { metricsText } from '../metrics.ts';
import type { Site } from '../site.ts';
import { problems } from '../schemas/problem.ts';
import { json, security } from './shared.ts';

const tags = ['Operations'];
const text = { content: { 'text/plain': { schema: z.string() } } };

const healthz = createRoute({
  method: 'get',
  path: '/healthz',
  operationId: 'healthz',
  tags,
  summary: 'Liveness: the process responds',
  responses: { 200: json('Alive.', z.object({ status: z.literal('ok') })) },
});

const Ready = z.object({
  status: z.literal('ready'),
  degraded: z.array(z.enum(['queue'])).openapi({ description: 'What does not answer, although runs are accepted.' }),
});

/** Shorter than probes wait, so that a queue that is silent does not make the server unready. */
const queueTimeoutMs = 500;

const readyz = createRoute({
  method: 'get',
  path: '/readyz',
  operationId: 'readyz',
  tags,
  summary: 'Readiness: this server accepts runs',
  description:
    'The database answers and has the schema. While a queue in Redis does not answer, runs are accepted, and executed once it does: ' +
    'the server is ready, and `degraded` names the queue.',
  responses: { 200: json('Ready.', Ready), 503: problems()[503 as never] },
});

const metrics = createRoute({
  method: 'get',
  path: '/metrics',
  operationId: 'metrics',
  tags,
  security,
  summary: 'Gauges and counters for Prometheus',
  responses: { 200: { description: 'Prometheus text.', ...text }, ...problems() },
});

/** Probes need no key and reveal only yes or no. */
export function addProbes(app: ApiApp, { lanefold }: Pick<Site, 'lanefold'>): void {
  app.openapi(healthz, (c) => c.json({ status: 'ok' as const }, 200));

  app.openapi(readyz, async (c) => {
    const { queueBackend } = lanefold;
    const health = await lanefold.health(queueBackend === 'redis' ? { queueTimeoutMs } : {});
    // with the queue in PostgreSQL, an accepted run and its job are one transaction
    const accepts = health.database === undefined && (queueBackend === 'redis' || health.queue === undefined);
    const degraded = health.queue === undefined ? [] : ['queue' as const];
    if (accepts) return c.json({ status: 'ready' as const, degraded }, 200);
    const [first] = Object.values(health) as unknown[];
    throw new LanefoldError('not_ready', 'A dependency of this server is unavailable.', {
      hint: 'If the database is new, run `lanefold migrate`; the server log has the details.',
      details: { errors: Object.keys(health).map((path) => ({ path, message: 'Unavailable, or not set up.' })) },
      cause: first,
    });
  });
}

/** Counts over all tenants. */
export function addMetrics(app: ApiApp, { lanefold, requests }: Pick<Site, 'lanefold' | 'requests'>): void {
  app.openapi(metrics, async (c) => {
    const [stats, limits, circuits] = await Promise.all([
      lanefold.stats(),
      lanefold.limits.totals(),
      lanefold.circuits.list(),
    ]);
    const body = metricsText(stats, limits, circuits, requests.counts());
    return c.body(body, 200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }) as never;
  });
}
