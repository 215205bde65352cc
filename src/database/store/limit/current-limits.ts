import type { Limit } from '../../../agent/limits/limit.ts';
import type { Database } from '../../postgres/pool.ts';

/** All limits, and the number of their newest change. */
export interface CurrentLimits {
  version: number;
  limits: Limit[];
}

/** Reads the limits of all tenants. */
export async function readCurrentLimits(db: Database): Promise<CurrentLimits> {
  const [row] = await db.query<{ version: number; limits: Limit[] | null }>(
    'current_limits',
    `select coalesce(max(version), 0)::float8 as version,
       json_agg(json_build_object('owner', owner, 'name', name, 'kind', kind, 'scope', scope, 'amount', amount, 'amounts', amounts,
         'tokens', tokens, 'perMs', per_ms, 'calendar', calendar, 'timeZone', time_zone, 'share', share, 'weights', weights,
         'reserve', reserve,
         'onExhausted', on_exhausted, 'version', version) order by owner, name) filter (where removed_at is null) as limits
     from lanefold._limit`,
  );
  return { version: row!.version, limits: row!.limits ?? [] };
}

/** The buckets that waiting runs need. */
export async function findAwaitedPlaces(db: Database): Promise<string[]> {
  const rows = await db.query<{ place: string }>(
    'awaited_places',
    `select distinct owner || ' ' || name || ' ' || key as place from lanefold._limit_wait`,
  );
  return rows.map(({ place }) => place);
}
