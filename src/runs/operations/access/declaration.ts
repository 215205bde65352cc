import { z } from 'zod';
import { noun } from '../../../base/operations/operation.ts';
import { by, date, Id, limit, named, numberedPage, typed, whole } from '../../../base/operations/schemas.ts';
import { centuryMs } from '../../../base/checks/values.ts';
import {
  ApiKey,
  AuditEntry,
  auditQuery,
  keyAgents,
  keyFields,
  KeyLimits,
} from '../../../database/store/access/declaration.ts';

export const NewKey = named(
  'NewKey',
  z
    .strictObject({
      ...keyFields,
      expiresInMs: whole(1, centuryMs).optional().describe('Lifetime of the key; default: unlimited.'),
    })
    .meta({ example: { name: 'support desk', scopes: ['read', 'run', 'steer'], agents: ['support'] } }),
);

export const MintedKey = named(
  'MintedKey',
  z.object({ id: Id, key: z.string().describe('Shown only once: the server stores only its hash.') }).meta({
    doc: 'A new key with its secret. Only this answer has the secret: the database stores its hash.',
  }),
);

const RotateKey = named(
  'RotateKey',
  z
    .strictObject({
      overlapMs: whole(0, centuryMs).optional().describe('How long the old secrets keep working; default: one hour.'),
    })
    .meta({ example: { overlapMs: 3_600_000 } }),
);

const dayMs = 86_400_000;

const RequestedToken = named(
  'NewBrowserToken',
  z
    .strictObject({
      threadId: Id,
      runId: Id.optional().meta({ description: 'Only this run of the thread.' }),
      access: typed('BrowserAccess', 'base/access/browser-token.ts', z.enum(['read', 'chat', 'approve'])).meta({
        description:
          '`read`: see the thread or run. `chat`: also ask, steer and cancel. `approve`: also approve and deny tool calls.',
      }),
      agents: keyAgents,
      expiresInMs: whole(1, dayMs).optional().describe('Default: 15 minutes; at most one day.'),
    })
    .meta({ example: { threadId: 'support-42', access: 'chat' } }),
);

export const NewBrowserToken = z.strictObject({
  ...RequestedToken.shape,
  expiresAtMs: z
    .number()
    .optional()
    .describe(
      'The token expires at this time at the latest, because the key that requests the token does. In ms, like `Date.now()`.',
    ),
  tenant: Id.optional(),
  limits: KeyLimits.optional().meta({ doc: 'The limits of the key that requests the token.' }),
  by: z.string().optional().describe('The id of the key that requests the token; default `operator`.'),
});

export const BrowserToken = named(
  'BrowserToken',
  z.object({ token: z.string().describe('A Bearer token.'), expiresAt: date('When it expires.') }),
);

export const keys = noun('keys', 'Keys', {
  create: {
    id: 'createKey',
    route: 'POST /v1/keys',
    summary: 'Create an API key',
    description:
      'The new key gets no more rights than the key that creates it: no other scope, tenant, agent or thread, no higher limit, no later expiry.',
    doc: 'Creates a key. A library of one tenant creates keys for that tenant.',
    body: NewKey,
    bodyIs: 'options',
    own: { by },
    answer: { status: 201, description: 'The key.', schema: MintedKey },
    errors: ['invalid_input', 'invalid_id'],
  },
  list: {
    id: 'listKeys',
    route: 'GET /v1/keys',
    summary: 'List the API keys, newest first',
    doc: 'All keys, newest first, without secrets.',
    answer: { description: 'The keys, without their secrets.', schema: z.array(ApiKey) },
  },
  rotate: {
    id: 'rotateKey',
    route: 'POST /v1/keys/{key_id}/rotate',
    summary: 'Give a key a new secret',
    description: 'Only for a key that has no more rights than the key of the request.',
    doc: 'Adds a secret to a key; the old secrets keep working for `overlapMs`, by default an hour.',
    body: RotateKey,
    bodyIs: 'options',
    own: { by },
    answer: { status: 201, description: 'The key with its new secret.', schema: MintedKey },
    errors: ['key_not_found'],
  },
  revoke: {
    id: 'revokeKey',
    route: 'DELETE /v1/keys/{key_id}',
    summary: 'Revoke a key',
    description: 'Servers that have cached the key notice within ten seconds.',
    doc: 'Revokes a key; servers notice within ten seconds.',
    own: { by },
    answer: { description: 'The key is revoked.' },
    errors: ['key_not_found'],
  },
  browserToken: {
    id: 'createBrowserToken',
    route: 'POST /v1/tokens',
    scope: 'read',
    summary: 'Mint a short-lived token for a page in a browser',
    description:
      'The token is for one thread or run. It has no more rights than the key that mints it, expires no later, and cannot be revoked.',
    body: RequestedToken,
    // it is made without the database, at once
    byHand: true,
    answer: { status: 201, description: 'The token.', schema: BrowserToken },
    errors: ['missing_token_secret', 'invalid_input', 'invalid_id'],
    client: true,
  },
});

export const audit = noun('audit', 'Keys', {
  list: {
    id: 'listAudit',
    route: 'GET /v1/audit',
    summary: 'List the audited actions and who took them, oldest first',
    query: { ...auditQuery, limit: limit(100) },
    // the library lists entries without pages
    byHand: true,
    answer: { description: 'A page of the audit.', schema: numberedPage('AuditPage', AuditEntry) },
  },
});
