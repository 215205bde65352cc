import { z } from 'zod';
import { scopes } from '../../../base/access/principal.ts';
import { count, date, Id, named, orNull, typed, whole } from '../../../base/operations/schemas.ts';

const principal = 'base/access/principal.ts';

const Scope = typed(
  'Scope',
  principal,
  named(
    'Scope',
    z.enum(scopes).meta({
      description:
        '`read`: read threads and runs. `run`: start, retry and resume runs, and write to threads. `steer`: steer and cancel ' +
        'active runs. `approve`: approve and deny tool calls. `admin`: everything else.',
    }),
  ),
);

/** What all keys of a tenant, or one key, may use. */
export const KeyLimits = typed(
  'KeyLimits',
  principal,
  named(
    'KeyLimits',
    z.strictObject({
      requestsPerMinute: whole(1).optional().describe('Maximum requests per minute, in each API process.'),
      runs: whole(1).optional().describe('Maximum number of runs that have not ended.'),
      streams: whole(1).optional().describe('Maximum number of open event streams, in each API process.'),
      bodyBytes: whole(1).optional().describe('Maximum bytes of a request body.'),
    }),
  ),
);

export const keyAgents = typed('readonly string[]', undefined, z.array(z.string().min(1)).min(1))
  .optional()
  .meta({ description: 'Only runs of these agents, in threads where no other agent has run.' });

/** The name of a key, and what it allows. */
export const keyFields = {
  name: z.string().trim().min(1).max(200).meta({ description: 'What the key is for.' }),
  scopes: typed("Allowed['scopes']", principal, z.array(Scope).min(1)),
  tenant: Id.optional().meta({
    description: 'Only threads of this tenant; default: the tenant of the key that makes the request.',
    doc: 'Only threads of this tenant; default: the tenant of the library.',
  }),
  agents: keyAgents,
  threadPrefix: Id.optional().meta({ description: 'Only threads whose ids begin with this.' }),
  limits: KeyLimits.optional(),
};

export const ApiKey = named(
  'Key',
  z
    .object({
      id: Id,
      ...keyFields,
      createdBy: z.string(),
      createdAt: date('When its newest secret was created.'),
      expiresAt: date('When it expires; null: never.').nullable(),
      revokedAt: date('When it was revoked.').nullable(),
    })
    .meta({ doc: 'An API key without its secret.' }),
);

export const AuditEntry = named(
  'AuditEntry',
  z.object({
    no: count('Number of the row, ascending.', 17).meta({
      doc: 'Ascending, with gaps where a transaction was rolled back.',
    }),
    at: date('When the action was requested.'),
    tenantId: orNull(Id),
    actor: z.string().describe('`operator`, `key:<id>`, `token:<id of the key>` or `cli:<user>`.'),
    action: z.string(),
    threadId: orNull(Id),
    runId: orNull(Id),
    detail: typed('JsonObject', 'agent/context/message.ts', z.record(z.string(), z.any())),
  }),
);

export const auditQuery = {
  after: whole(-1).optional().describe('Return entries after this number: the `next_after` of the previous page.'),
  threadId: Id.optional(),
  tenantId: Id.optional(),
};

export const AuditQuery = z.strictObject({
  ...auditQuery,
  limit: whole(1, 10_000).optional().describe('Maximum number of entries; default 100.'),
});
