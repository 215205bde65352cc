import { createRoute, z } from '@hono/zod-openapi';
import type { ApiApp } from '../env.ts';
import { toJson } from '../json.ts';
import { ErasureReport, TenantErasureReport } from '../schemas/erasure.ts';
import { problems } from '../schemas/problem.ts';
import { Id, limit } from '../schemas/values.ts';
import { json, security, thread } from './shared.ts';

const tags = ['Threads'];

const eraseThread = createRoute({
  method: 'delete',
  path: '/v1/threads/{thread_id}',
  operationId: 'eraseThread',
  tags,
  security,
  summary: 'Erase a thread permanently',
  description: 'Removes all data of the thread from the database and the queue. Its id cannot be used again.',
  request: { params: thread },
  responses: { 200: json('The thread was erased.', ErasureReport), ...problems(404, 409, 410) },
});

const eraseTenant = createRoute({
  method: 'delete',
  path: '/v1/tenants/{tenant_id}/threads',
  operationId: 'eraseTenant',
  tags,
  security,
  summary: 'Erase the threads of a tenant permanently',
  description:
    'Removes the schedules, evals, monitors, kept events and webhooks of the tenant, and erases up to `limit` threads; repeat ' +
    'the request while `more` is true.',
  request: { params: z.object({ tenant_id: Id }), query: z.strictObject({ limit: limit(100) }) },
  responses: { 200: json('The erasure report.', TenantErasureReport), ...problems() },
});

export function addErasure(app: ApiApp): void {
  app.openapi(eraseThread, async (c) => {
    const { removed, ...report } = await c.var.lanefold.threads.erase(c.req.valid('param').thread_id);
    return c.json({ ...toJson(report), removed: toJson(removed) }, 200);
  });

  app.openapi(eraseTenant, async (c) => {
    const { limit: most = 100 } = c.req.valid('query');
    const tenantId = c.req.valid('param').tenant_id;
    const { removed, ...report } = await c.var.lanefold.threads.eraseTenant(tenantId, { limit: most });
    return c.json({ ...toJson(report), removed: toJson(removed) }, 200);
  });
}
