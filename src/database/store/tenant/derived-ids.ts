import { defaultTenant, derivedIds, type DerivedIds } from '../../../base/checks/ids.ts';
import type { Database, DatabaseSettings } from '../../postgres/pool.ts';

/** Limit on remembered keys. */
const remembered = 10_000;

const known = new WeakMap<DatabaseSettings, Map<string, Promise<DerivedIds>>>();

/** The derived ids of a tenant, of whose key a process asks once; see `name_key`. */
export function idsOf(db: Database, tenant = db.tenant ?? defaultTenant): Promise<DerivedIds> {
  const ofTenants = known.get(db.settings) ?? new Map<string, Promise<DerivedIds>>();
  known.set(db.settings, ofTenants);
  const before = ofTenants.get(tenant);
  if (before) return before;
  if (ofTenants.size >= remembered) ofTenants.clear();
  const ids = readKey(db, tenant).then(derivedIds);
  ofTenants.set(tenant, ids);
  // the next request asks again
  ids.catch(() => ofTenants.delete(tenant));
  return ids;
}

const readKey = async (db: Database, tenant: string): Promise<string> =>
  (await db.query<{ key: string }>('name_key', 'select lanefold.name_key($1) as key', [tenant]))[0]!.key;
