import type { Database } from '../../postgres/pool.ts';

/** Who removes webhooks, in the audit, which also has the request to erase the tenant. */
const by = 'lanefold';

/** Erases the schedules of a tenant and their slots; see `erase_schedules`. */
export const eraseSchedules = (db: Database, tenant: string): Promise<unknown> =>
  db.queryLong('erase_schedules', 'select from lanefold.erase_schedules($1)', [tenant]);

/** Erases the events kept for a tenant; see `erase_kept_events`. */
export const eraseKeptEvents = (db: Database, tenant: string): Promise<unknown> =>
  db.queryLong('erase_kept_events', 'select from lanefold.erase_kept_events($1)', [tenant]);

/** Removes the endpoints of a tenant; see `erase_webhooks`. */
export const eraseWebhooks = (db: Database, tenant: string): Promise<unknown> =>
  db.queryLong('erase_webhooks', 'select from lanefold.erase_webhooks($1, $2)', [tenant, by]);
