import { z } from '@hono/zod-openapi';
import { scopes } from '../../access/scope.ts';
import { count, Id, next, orNull, timestamp, whole } from './values.ts';

const Scope = z.enum(scopes).openapi('Scope', {
  description:
    '`read` what is there; `run` start and resume runs and write to threads; `steer` active runs and cancel them; `approve` ' +
    'or deny tool calls; `admin` everything else.',
});

const limits = z
  .strictObject({
    requests_per_minute: whole(1).optional().openapi({ description: 'Requests per minute, in each process.' }),
    runs: whole(1).optional().openapi({ description: 'Runs that have not ended.' }),
    streams: whole(1).optional().openapi({ description: 'Open event streams, in each process.' }),
    body_bytes: whole(1).optional().openapi({ description: 'Bytes of a request body.' }),
  })
  .openapi('KeyLimits');

const allowed = {
  scopes: z.array(Scope).min(1),
  tenant: Id.optional().openapi({
    description: 'Only threads of this tenant; default: that of the key that makes it.',
  }),
  agents: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .openapi({ description: 'Only runs of these agents, in threads in which no other agent has run.' }),
  thread_prefix: Id.optional().openapi({ description: 'Only threads whose ids begin with this.' }),
  limits: limits.optional(),
};

const name = z.string().trim().min(1).max(200).openapi({ description: 'What the key is for.' });

export const NewKey = z
  .strictObject({ name, ...allowed, expires_in_ms: whole(1).optional().openapi({ description: 'Default: never.' }) })
  .openapi('NewKey', { example: { name: 'support desk', scopes: ['read', 'run', 'steer'], agents: ['support'] } });

export const MintedKey = z
  .object({ id: Id, key: z.string().openapi({ description: 'Shown this once: only its hash is stored.' }) })
  .openapi('MintedKey');

export const Key = z
  .object({
    id: Id,
    name,
    ...allowed,
    created_by: z.string(),
    created_at: timestamp('When its newest secret was made.'),
    expires_at: timestamp('When it expires; null: never.').nullable(),
    revoked_at: timestamp('When it was revoked.').nullable(),
  })
  .openapi('Key');

export const KeyList = z.object({ data: z.array(Key) }).openapi('KeyList');

export const RotateKey = z
  .strictObject({
    overlap_ms: whole(0).optional().openapi({ description: 'How long the old secrets still work; default an hour.' }),
  })
  .openapi('RotateKey', { example: { overlap_ms: 3_600_000 } });

export const NewBrowserToken = z
  .strictObject({
    thread_id: Id,
    run_id: Id.optional().openapi({ description: 'Only this run of the thread.' }),
    access: z.enum(['read', 'chat']).openapi({ description: '`read` sees it; `chat` also asks, steers and cancels.' }),
    expires_in_ms: whole(1, 86_400_000).optional().openapi({ description: 'Default 15 minutes, at most a day.' }),
  })
  .openapi('NewBrowserToken', { example: { thread_id: 'support-42', access: 'chat' } });

export const BrowserToken = z
  .object({ token: z.string().openapi({ description: 'A Bearer token.' }), expires_at: timestamp('When it expires.') })
  .openapi('BrowserToken');

export const AuditEntry = z
  .object({
    no: count('Ascending.', 17),
    at: timestamp('When it was asked for.'),
    tenant_id: orNull(Id),
    actor: z.string().openapi({ description: '`operator`, `key:<id>`, `token:<id of the key>` or `cli:<user>`.' }),
    action: z.string(),
    thread_id: orNull(Id),
    run_id: orNull(Id),
    detail: z.record(z.string(), z.any()),
  })
  .openapi('AuditEntry');

export const AuditPage = z.object({ data: z.array(AuditEntry), next_after: next }).openapi('AuditPage');
