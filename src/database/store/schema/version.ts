import { schemaVersion } from '../../../../db/schema/version.ts';
import { LanefoldError } from '../../../base/errors.ts';
import type { Queryable } from '../../postgres/run-query.ts';

export interface SchemaVersions {
  /** 0 where there is no schema yet. */
  schema: number;
  minCompatible: number;
}

/** Reads the versions the database carries. Safe on a database that has never seen Lanefold. */
export async function readVersions(on: Queryable): Promise<SchemaVersions> {
  const known = await on.query({ text: "select to_regproc('lanefold.schema_version') is not null as known" });
  if (!known.rows[0]?.['known']) return { schema: 0, minCompatible: 0 };
  const { rows } = await on.query({
    text: 'select lanefold.schema_version() as schema, lanefold.min_compatible_version() as min',
  });
  return { schema: Number(rows[0]!['schema']), minCompatible: Number(rows[0]!['min']) };
}

/** Whether threads are on several nodes (Citus), so that a transaction should not span them. */
export async function isDistributed(on: Queryable): Promise<boolean> {
  const citus = await on.query({ text: "select from pg_extension where extname = 'citus'" });
  if (citus.rows.length === 0) return false;
  const { rows } = await on.query({
    text: "select from pg_dist_partition where logicalrelid = to_regclass('lanefold.thread')",
  });
  return rows.length > 0;
}

/** Older code works on a newer schema as long as that schema says so. */
export function assertCompatible(versions: SchemaVersions): void {
  if (versions.minCompatible <= schemaVersion) return;
  throw new LanefoldError(
    'database_too_new',
    `The database is at schema ${versions.schema}, which needs code for schema ${versions.minCompatible} or newer; this is ${schemaVersion}.`,
    { hint: 'Update the lanefold package of this process. Nothing was changed.', details: { ...versions } },
  );
}

/** Checked before a worker or API starts. */
export async function assertSchema(on: Queryable): Promise<void> {
  const versions = await readVersions(on);
  assertCompatible(versions);
  // An older schema may lack something that this code calls: migrate first.
  if (versions.schema >= schemaVersion) return;
  throw new LanefoldError(
    'database_outdated',
    `The database is at schema ${versions.schema}; this code needs ${schemaVersion}.`,
    { hint: 'Run `lanefold migrate`.', details: { ...versions } },
  );
}
