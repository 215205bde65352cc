import { call } from '../../../database/store/call.ts';
import { snakeKeys } from '../../../base/common/case.ts';
import type { Database } from '../../../database/postgres/pool.ts';
import type { ListedWebhook, WebhookDefinition } from '../types.ts';
import { tenantIs } from '../../../database/store/tenant/tenant-settings.ts';
import { readRows } from '../../../database/store/rows.ts';
import { eachThread } from '../../../database/store/each-thread.ts';

/** An endpoint with its state, without its secrets. */
export interface WebhookRow extends Omit<ListedWebhook, 'tenant'> {
  id: string;
  tenantId: string;
}

/** A definition with its defaults. */
export type CompleteWebhook = Required<Omit<WebhookDefinition, 'template'>> & Pick<ListedWebhook, 'template'>;

/** Sets an endpoint; see `set_webhook`. Returns the secret of a new one: only then it has the id given. */
export async function setWebhook(
  db: Database,
  tenant: string,
  name: string,
  { template, ...definition }: CompleteWebhook,
  { id, by }: { id: string; by: string },
): Promise<string | undefined> {
  const p = { ...snakeKeys(definition), template, by };
  const { secret } = (await call(db.query, 'set_webhook', { tenant, name, id, p })) as { secret?: string | null };
  return secret ?? undefined;
}

/** Returns false if there is none. */
export const removeWebhook = (db: Database, tenant: string, name: string, by: string): Promise<boolean> =>
  call(db.query, 'remove_webhook', { tenant, name, by });

/** Gives it a new secret, and returns it; the ones before stay valid for `keepMs`. Undefined if there is none. */
export async function rotateWebhook(
  db: Database,
  tenant: string,
  name: string,
  { keepMs, by }: { keepMs: number; by: string },
): Promise<string | undefined> {
  const secret = await call(db.query, 'rotate_webhook', { tenant, name, keepMs, by });
  return (secret as string | null) ?? undefined;
}

/** Pauses it, or lets it continue. Returns false if there is none. */
export const pauseWebhook = (
  db: Database,
  tenant: string,
  name: string,
  { paused, by }: { paused: boolean; by: string },
): Promise<boolean> => call(db.query, 'pause_webhook', { tenant, name, paused, by });

/** Notes a test event. Returns the id of its delivery; null if there is no such endpoint. */
export async function testWebhook(
  db: Database,
  { tenantId, id }: Pick<WebhookRow, 'tenantId' | 'id'>,
  by: string,
): Promise<string | null> {
  const args = { threadId: `/webhooks/${id}`, tenant: tenantId, webhookId: id, by };
  return (await call(db.query, 'test_webhook', args)) as string | null;
}

const columns = `id, tenant_id, name, url, types, agents, ordered, include_result, template, paused_at, paused_reason, failures, failing_since,
  dropped, version::float8, created_at, updated_at, updated_by`;

/** By tenant and name. */
export const readWebhooks = (db: Database): Promise<WebhookRow[]> =>
  readRows<WebhookRow>(
    db,
    'webhooks',
    `select ${columns} from lanefold._webhook where removed_at is null order by tenant_id, name`,
  );

export const readWebhook = async (db: Database, tenant: string, name: string): Promise<WebhookRow | undefined> =>
  (
    await readRows<WebhookRow>(
      db,
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
  await call(db.query, 'count_attempt', { tenant, webhookId: id, delivered, gone, failures, days });
}

/** Endpoints that get nothing for a while: paused ones, and those that have failed for longer than this. */
export const readBlocked = (db: Database, failingMs: number): Promise<{ tenantId: string; id: string }[]> =>
  readRows(
    db,
    'blocked_webhooks',
    `select tenant_id, id from lanefold._webhook, (select lanefold._now() as now) c
     where removed_at is null and (paused_at is not null or failing_since < c.now - $1::float8 * interval '1 ms')`,
    [failingMs],
  );

export async function countDropped(db: Database, tenant: string, id: string, count: number): Promise<void> {
  await call(db.query, 'count_dropped', { tenant, webhookId: id, count });
}

/** Endpoints that were removed, but may have deliveries. */
export const readRemoved = (db: Database): Promise<{ tenantId: string; id: string }[]> =>
  readRows(db, 'removed_webhooks', 'select tenant_id, id from lanefold._webhook where removed_at is not null');

export async function forgetWebhook(db: Database, tenant: string, id: string): Promise<void> {
  await call(db.query, 'forget_webhook', { tenant, webhookId: id });
}

/** Who removes webhooks, in the audit, which also has the request to erase the tenant. */
const eraser = 'lanefold';

/** Removes the endpoints of a tenant; see `erase_webhooks`. */
export const eraseWebhooks = (db: Database, tenant: string): Promise<unknown> =>
  call(db.queryLong, 'erase_webhooks', { tenant, by: eraser });

/** The arguments of one call: items of a thread. */
export interface ThreadItems {
  thread_id: string;
  items: ({ id: string } & Record<string, unknown>)[];
}

/** Groups what concerns the same thread. */
export function groupByThread<Given extends { thread_id: string }>(
  given: readonly Given[],
  itemOf: (one: Given) => ThreadItems['items'][number],
): ThreadItems[] {
  const threads = new Map<string, ThreadItems>();
  for (const one of given) {
    const thread = threads.get(one.thread_id) ?? { thread_id: one.thread_id, items: [] };
    thread.items.push(itemOf(one));
    threads.set(one.thread_id, thread);
  }
  return [...threads.values()];
}

/** What an answer says: the ids of the items that other transactions hold. */
interface Locked {
  thread_id: string;
  locked: string[];
}

/**
 * Calls a function for each thread in one statement, which waits for no other transaction; then alone, and waiting, for
 * what others hold. Calls each alone on a distributed database.
 *
 * @param together takes the threads as JSON, then the other values
 * @param one takes a thread id, its items, then the other values
 */
export async function writeThreads<Answer extends Locked>(
  db: Database,
  name: string,
  threads: readonly ThreadItems[],
  { together, one, values = [] }: { together: string; one: string; values?: unknown[] },
): Promise<Answer[]> {
  const alone = (some: readonly ThreadItems[]) =>
    eachThread<ThreadItems, Answer>(db, some, ({ thread_id, items }) =>
      db.query(`${name}_of`, one, [thread_id, JSON.stringify(items), ...values]),
    );
  if (threads.length === 0) return [];
  if (db.settings.distributed) return alone(threads);
  const answers = await db.query<Answer>(name, together, [JSON.stringify(threads), ...values]);
  const heldByOthers = new Map(answers.map(({ thread_id, locked }) => [thread_id, new Set(locked)]));
  const rest = threads
    .map(({ thread_id, items }) => ({
      thread_id,
      items: items.filter(({ id }) => heldByOthers.get(thread_id)!.has(id)),
    }))
    .filter(({ items }) => items.length > 0);
  return [...answers, ...(await alone(rest))];
}
