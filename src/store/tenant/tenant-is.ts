import type { Database } from '../../postgres/pool.ts';

/**
 * The condition that a row is of a tenant, which is a `parameter` of the statement. Not an equality on a distributed
 * database: beside that of a policy it ends the backend of the coordinator (seen with Citus 13.2).
 */
export const tenantIs = ({ settings }: Database, parameter: string): string =>
  settings.distributed ? `tenant_id = any (array[${parameter}]::text[])` : `tenant_id = ${parameter}`;
