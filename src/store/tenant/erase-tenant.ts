import type { Database } from '../../postgres/pool.ts';

/** Who removes webhooks, in the audit, which also has the request to erase the tenant. */
const by = 'lanefold';

/** Erases the schedules of a tenant and their slots; see `erase_schedules`. */
export const eraseSchedules = (db: Database, tenant: string): Promise<number> =>
  erased(db, 'erase_schedules', 'select e.erased from lanefold.erase_schedules($1) as e (erased)', [tenant]);

/** Erases the events kept for a tenant; see `erase_kept_events`. */
export const eraseKeptEvents = (db: Database, tenant: string): Promise<number> =>
  erased(db, 'erase_kept_events', 'select e.erased from lanefold.erase_kept_events($1) as e (erased)', [tenant]);

/** Removes the endpoints of a tenant; see `erase_webhooks`. */
export const eraseWebhooks = (db: Database, tenant: string): Promise<number> =>
  erased(db, 'erase_webhooks', 'select e.erased from lanefold.erase_webhooks($1, $2) as e (erased)', [tenant, by]);

const erased = async (db: Database, name: string, text: string, values: unknown[]): Promise<number> =>
  (await db.queryLong<{ erased: number }>(name, text, values))[0]!.erased;
