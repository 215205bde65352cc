import { snakeKeys } from '../../../base/common/case.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import type { ListedWebhook, WebhookDefinition } from '../types.ts';
import { tenantIs } from '../../../database/store/tenant/tenant-settings.ts';

/** An endpoint with its state, without its secrets. */
export interface WebhookRow extends Omit<ListedWebhook, 'tenant'> {
  id: string;
  tenantId: string;
}

/** Sets an endpoint; see `set_webhook`. Returns the secret of a new one: only then it has the id given. */
export async function setWebhook(
  db: Database,
  tenant: string,
  name: string,
  definition: Required<WebhookDefinition>,
  { id, by }: { id: string; by: string },
): Promise<string | undefined> {
  const text = "select s.webhook ->> 'secret' as secret from lanefold.set_webhook($1, $2, $3, $4) as s (webhook)";
  const values = [tenant, name, id, { ...snakeKeys(definition), by }];
  return (await db.query<{ secret: string | null }>('set_webhook', text, values))[0]!.secret ?? undefined;
}

/** Returns false if there is none. */
export const removeWebhook = (db: Database, tenant: string, name: string, by: string): Promise<boolean> =>
  found(db, 'remove_webhook', 'select w.found from lanefold.remove_webhook($1, $2, $3) as w (found)', [
    tenant,
    name,
    by,
  ]);

/** Gives it a new secret, and returns it; the ones before stay valid for `keepMs`. Undefined if there is none. */
export async function rotateWebhook(
  db: Database,
  tenant: string,
  name: string,
  { keepMs, by }: { keepMs: number; by: string },
): Promise<string | undefined> {
  const text = 'select w.secret from lanefold.rotate_webhook($1, $2, $3, $4) as w (secret)';
  const [row] = await db.query<{ secret: string | null }>('rotate_webhook', text, [tenant, name, keepMs, by]);
  return row!.secret ?? undefined;
}

/** Pauses it, or lets it go on. Returns false if there is none. */
export const pauseWebhook = (
  db: Database,
  tenant: string,
  name: string,
  { paused, by }: { paused: boolean; by: string },
): Promise<boolean> =>
  found(db, 'pause_webhook', 'select w.found from lanefold.pause_webhook($1, $2, $3, $4) as w (found)', [
    ...[tenant, name, paused, by],
  ]);

/** Notes a test event. Returns the id of its delivery; null if there is no such endpoint. */
export async function testWebhook(
  db: Database,
  { tenantId, id }: Pick<WebhookRow, 'tenantId' | 'id'>,
  by: string,
): Promise<string | null> {
  const text = 'select t.id from lanefold.test_webhook($1, $2, $3, $4) as t (id)';
  return (await db.query<{ id: string | null }>('test_webhook', text, [`/webhooks/${id}`, tenantId, id, by]))[0]!.id;
}

const columns = `id, tenant_id as "tenantId", name, url, types, agents, ordered, include_result as "includeResult", paused_at as "pausedAt",
  paused_reason as "pausedReason", failures, failing_since as "failingSince", dropped, version::float8, created_at as "createdAt",
  updated_at as "updatedAt", updated_by as "updatedBy"`;

/** By tenant and name. */
export const readWebhooks = (db: Database): Promise<WebhookRow[]> =>
  db.query<WebhookRow & Record<string, unknown>>(
    'webhooks',
    `select ${columns} from lanefold._webhook where removed_at is null order by tenant_id, name`,
  );

export const readWebhook = async (db: Database, tenant: string, name: string): Promise<WebhookRow | undefined> =>
  (
    await db.query<WebhookRow & Record<string, unknown>>(
      'webhook',
      `select ${columns} from lanefold._webhook where ${tenantIs(db, '$1')} and name = $2 and removed_at is null`,
      [tenant, name],
    )
  )[0];

/** Counts how an attempt ended, and pauses the endpoint after many failures; see `count_attempt`. */
export async function countAttempt(
  db: Database,
  tenant: string,
  id: string,
  { delivered, gone, failures, days }: { delivered: boolean; gone: boolean; failures: number; days: number },
): Promise<void> {
  const text = 'select from lanefold.count_attempt($1, $2, $3, $4, $5, $6)';
  await db.query('count_attempt', text, [tenant, id, delivered, gone, failures, days]);
}

/** Endpoints that get nothing for a while: paused ones, and those that have failed for longer than this. */
export const readBlocked = (db: Database, failingMs: number): Promise<{ tenantId: string; id: string }[]> =>
  db.query(
    'blocked_webhooks',
    `select tenant_id as "tenantId", id from lanefold._webhook, (select lanefold._now() as now) c
     where removed_at is null and (paused_at is not null or failing_since < c.now - $1::float8 * interval '1 ms')`,
    [failingMs],
  );

export async function countDropped(db: Database, tenant: string, id: string, count: number): Promise<void> {
  await db.query('count_dropped', 'select from lanefold.count_dropped($1, $2, $3)', [tenant, id, count]);
}

/** Endpoints that were removed, but may have deliveries. */
export const readRemoved = (db: Database): Promise<{ tenantId: string; id: string }[]> =>
  db.query(
    'removed_webhooks',
    'select tenant_id as "tenantId", id from lanefold._webhook where removed_at is not null',
  );

export async function forgetWebhook(db: Database, tenant: string, id: string): Promise<void> {
  await db.query('forget_webhook', 'select from lanefold.forget_webhook($1, $2)', [tenant, id]);
}

const found = async (db: Database, name: string, text: string, values: unknown[]): Promise<boolean> =>
  (await db.query<{ found: boolean }>(name, text, values))[0]!.found;

/** Who removes webhooks, in the audit, which also has the request to erase the tenant. */
const eraser = 'lanefold';

/** Removes the endpoints of a tenant; see `erase_webhooks`. */
export const eraseWebhooks = (db: Database, tenant: string): Promise<unknown> =>
  db.queryLong('erase_webhooks', 'select from lanefold.erase_webhooks($1, $2)', [tenant, eraser]);
