import { createRoute, z } from '@hono/zod-openapi';
import { omitUndefined } from '../../base/common/json.ts';
import type { ApiApp } from '../env.ts';
import { pageOf } from '../json.ts';
import { AuditPage } from '../schemas/key.ts';
import { problems } from '../schemas/problem.ts';
import { after, Id, limit } from '../schemas/values.ts';
import { json, security } from './shared.ts';

const listAudit = createRoute({
  method: 'get',
  path: '/v1/audit',
  operationId: 'listAudit',
  tags: ['Keys'],
  security,
  summary: 'List the audited actions and who took them, oldest first',
  request: {
    query: z.strictObject({
      after: after('entries', 'number'),
      thread_id: Id.optional(),
      tenant_id: Id.optional(),
      limit: limit(100),
    }),
  },
  responses: { 200: json('A page of the audit.', AuditPage), ...problems() },
});

export function addAudit(app: ApiApp): void {
  app.openapi(listAudit, async (c) => {
    const { after: afterNo, thread_id: threadId, tenant_id: tenantId, limit: most = 100 } = c.req.valid('query');
    const found = await c.var.lanefold.audit.list(omitUndefined({ afterNo, threadId, tenantId, limit: most + 1 }));
    const { data, next } = pageOf(found, most, (entry) => entry.no);
    return c.json({ data, next_after: next }, 200);
  });
}
