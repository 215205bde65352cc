import { operator, type Principal } from '../../access/principal.ts';
import type { KeyLimits } from '../../access/scope.ts';

export interface LimitedParty {
  /** What its requests are counted by. */
  name: string;
  /** Set where it is a tenant. */
  tenant?: string;
  limits: KeyLimits;
}

/** Whose limits a request has to keep: those of its key, and those of the tenant of the key. */
export const limitedParties = ({ actor, tenant, limits, tenantLimits }: Principal): LimitedParty[] => [
  ...(limits ? [{ name: holder(actor), limits }] : []),
  ...(tenant !== undefined && tenantLimits ? [{ name: `tenant:${tenant}`, tenant, limits: tenantLimits }] : []),
];

/** A key, also where a token of it acts. */
const holder = (actor: string): string => actor.replace(/^token:/, '');

/** Who is said to have started a run: a key, also through its tokens. The operator is not counted. */
export const callerOf = ({ actor }: Principal): { caller?: string } =>
  actor === operator.actor ? {} : { caller: holder(actor) };
