import { bigint, index, jsonb, primaryKey, text } from 'drizzle-orm/pg-core';
import { bytea, id, lanefold, moment } from './columns.ts';

/** API keys, stored as hashes. A rotated key has several secrets under one id. */
export const apiKey = lanefold.table(
  '_api_key',
  {
    id: id('id').notNull(),
    /** SHA-256 of the secret, which has 256 random bits. */
    hash: bytea('hash').notNull(),
    name: text('name').notNull(),
    /** Null: a key for all tenants. */
    tenantId: id('tenant_id'),
    /** What the key may do: {scopes, agents?, thread_prefix?, limits?}. */
    allowed: jsonb('allowed').notNull(),
    createdBy: text('created_by').notNull(),
    createdAt: moment('created_at').notNull(),
    expiresAt: moment('expires_at'),
    revokedAt: moment('revoked_at'),
  },
  (t) => [primaryKey({ columns: [t.id, t.hash] })],
);

/** The audit: who did what. Rows are never changed or deleted. */
export const audit = lanefold.table(
  '_audit',
  {
    no: bigint('no', { mode: 'number' }).generatedAlwaysAsIdentity().primaryKey(),
    at: moment('at').notNull(),
    tenantId: id('tenant_id'),
    /** `operator`, `key:<id>`, `token:<id of the key that made it>` or `cli:<user>`. */
    actor: text('actor').notNull(),
    action: text('action').notNull(),
    threadId: id('thread_id'),
    runId: id('run_id'),
    detail: jsonb('detail').notNull(),
  },
  (t) => [index('_audit_thread').on(t.threadId), index('_audit_tenant').on(t.tenantId, t.no)],
);
