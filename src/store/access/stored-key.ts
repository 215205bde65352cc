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

/** The rights of a key as they are stored. */
export const toStored = ({ limits, ...allowed }: Allowed): object => ({
  ...snakeKeys(allowed),
  ...(limits ? { limits: snakeKeys(limits) } : {}),
});

export const fromStored = ({ limits, ...allowed }: Record<string, unknown>): Allowed =>
  ({ ...camelKeys(allowed), ...(limits ? { limits: camelKeys(limits) } : {}) }) as unknown as Allowed;

/** A row of the view `api_key`. */
export const toApiKey = (row: Record<string, unknown>): ApiKey => {
  const { allowed, ...columns } = row;
  return { ...(camelKeys(columns) as Omit<ApiKey, keyof Allowed>), ...fromStored(allowed as Record<string, unknown>) };
};
