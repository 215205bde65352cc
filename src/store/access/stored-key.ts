import type { Allowed } from '../../access/scope.ts';
import { camelKeys, snakeKeys } from '../../case.ts';

/** An API key without its secret. */
export interface ApiKey extends Allowed {
  id: string;
  /** What it is for, as its maker put it. */
  name: string;
  createdBy: string;
  createdAt: Date;
  /** null: never. */
  expiresAt: Date | null;
  revokedAt: Date | null;
}

/** The rights of a key as they are stored; its tenant has a column. */
export const toStored = ({ limits, ...allowed }: Omit<Allowed, 'tenant'>): object => ({
  ...snakeKeys(allowed),
  ...(limits ? { limits: snakeKeys(limits) } : {}),
});

export const fromStored = (row: { allowed: Record<string, unknown>; tenant_id: string | null }): Allowed => {
  const { limits, ...allowed } = row.allowed;
  return {
    ...camelKeys(allowed),
    ...(limits ? { limits: camelKeys(limits) } : {}),
    ...(row.tenant_id === null ? {} : { tenant: row.tenant_id }),
  } as unknown as Allowed;
};

/** A row of the view `api_key`. */
export const toApiKey = (row: Record<string, unknown>): ApiKey => {
  const { allowed, tenant_id, ...columns } = row as Parameters<typeof fromStored>[0];
  return { ...(camelKeys(columns) as Omit<ApiKey, keyof Allowed>), ...fromStored({ allowed, tenant_id }) };
};
