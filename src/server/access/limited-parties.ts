import { operator, type Principal, type KeyLimits } from '../../base/access/principal.ts';

export interface LimitedParty {
  /** The name under which its requests are counted. */
  name: string;
  /** Set only for a tenant. */
  tenant?: string;
  limits: KeyLimits;
}

/** The parties whose limits apply to a request: its key, and the tenant of that key. */
export const limitedParties = ({ actor, tenant, limits, tenantLimits }: Principal): LimitedParty[] => [
  ...(limits ? [{ name: holder(actor), limits }] : []),
  ...(tenant !== undefined && tenantLimits ? [{ name: `tenant:${tenant}`, tenant, limits: tenantLimits }] : []),
];

/**
 * Whose share of a server's memory a request takes: that of its tenant or its key, or of all holders of signed paths. The
 * operator has all of it.
 */
export function partyOf(principal: Principal | undefined): string | undefined {
  if (principal === undefined) return 'signed';
  const { actor, tenant } = principal;
  if (actor === operator.actor) return undefined;
  return tenant === undefined ? holder(actor) : `tenant:${tenant}`;
}

/** The key; a token counts as the key that made it. */
const holder = (actor: string): string => actor.replace(/^token:/, '');

/**
 * The caller recorded for a run: the key, also when one of its tokens starts the run. Runs of the operator are not
 * counted.
 */
export const callerOf = ({ actor }: Principal): { caller?: string } =>
  actor === operator.actor ? {} : { caller: holder(actor) };
