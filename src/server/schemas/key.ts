import { z } from '@hono/zod-openapi';
import { scopes } from '../../base/access/principal.ts';
import { count, Id, next, orNull, timestamp, whole } from './values.ts';

const Scope = z.enum(scopes).openapi('Scope', {
  description:
    '`read`: read threads and runs. `run`: start, retry and resume runs, and write to threads. `steer`: steer and cancel ' +
    'active runs. `approve`: approve and deny tool calls. `admin`: everything else.',
});

const limits = z
  .strictObject({
    requests_per_minute: whole(1)
      .optional()
      .openapi({ description: 'Maximum requests per minute, in each API process.' }),
    runs: whole(1).optional().openapi({ description: 'Maximum number of runs that have not ended.' }),
    streams: whole(1).optional().openapi({ description: 'Maximum number of open event streams, in each API process.' }),
    body_bytes: whole(1).optional().openapi({ description: 'Maximum bytes of a request body.' }),
  })
  .openapi('KeyLimits');

const agents = z
  .array(z.string().min(1))
  .min(1)
  .optional()
  .openapi({ description: 'Only runs of these agents, in threads where no other agent has run.' });

const allowed = {
  scopes: z.array(Scope).min(1),
  tenant: Id.optional().openapi({
    description: 'Only threads of this tenant; default: the tenant of the key that creates it.',
  }),
  agents,
  thread_prefix: Id.optional().openapi({ description: 'Only threads whose ids begin with this.' }),
  limits: limits.optional(),
};

const name = z.string().trim().min(1).max(200).openapi({ description: 'What the key is for.' });

export const NewKey = z
  .strictObject({
    name,
    ...allowed,
    expires_in_ms: whole(1).optional().openapi({ description: 'Lifetime of the key; default: unlimited.' }),
  })
  .openapi('NewKey', { example: { name: 'support desk', scopes: ['read', 'run', 'steer'], agents: ['support'] } });

export const MintedKey = z
  .object({ id: Id, key: z.string().openapi({ description: 'Shown only once: the server stores only its hash.' }) })
  .openapi('MintedKey');

export const Key = z
  .object({
    id: Id,
    name,
    ...allowed,
    created_by: z.string(),
    created_at: timestamp('When its newest secret was created.'),
    expires_at: timestamp('When it expires; null: never.').nullable(),
    revoked_at: timestamp('When it was revoked.').nullable(),
  })
  .openapi('Key');

export const KeyList = z.object({ data: z.array(Key) }).openapi('KeyList');

export const RotateKey = z
  .strictObject({
    overlap_ms: whole(0)
      .optional()
      .openapi({ description: 'How long the old secrets keep working; default: one hour.' }),
  })
  .openapi('RotateKey', { example: { overlap_ms: 3_600_000 } });

export const NewBrowserToken = z
  .strictObject({
    thread_id: Id,
    run_id: Id.optional().openapi({ description: 'Only this run of the thread.' }),
    access: z.enum(['read', 'chat', 'approve']).openapi({
      description:
        '`read`: see the thread or run. `chat`: also ask, steer and cancel. `approve`: also approve and deny tool calls.',
    }),
    agents,
    expires_in_ms: whole(1, 86_400_000).optional().openapi({ description: 'Default: 15 minutes; at most one day.' }),
  })
  .openapi('NewBrowserToken', { example: { thread_id: 'support-42', access: 'chat' } });

export const BrowserToken = z
  .object({ token: z.string().openapi({ description: 'A Bearer token.' }), expires_at: timestamp('When it expires.') })
  .openapi('BrowserToken');

export const AuditEntry = z
  .object({
    no: count('Number of the row, ascending.', 17),
    at: timestamp('When the action was requested.'),
    tenant_id: orNull(Id),
    actor: z.string().openapi({ description: '`operator`, `key:<id>`, `token:<id of the key>` or `cli:<user>`.' }),
    action: z.string(),
    thread_id: orNull(Id),
    run_id: orNull(Id),
    detail: z.record(z.string(), z.any()),
  })
  .openapi('AuditEntry');

export const AuditPage = z.object({ data: z.array(AuditEntry), next_after: next }).openapi('AuditPage');
