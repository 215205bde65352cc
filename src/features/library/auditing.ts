import type { AuditedAct } from '../../database/store/access/audited-act.ts';
import type { TenantLibrary } from './library.ts';

type Auditing = (acts: readonly AuditedAct[]) => TenantLibrary;

/** Keyed by `threads`, which all objects made from one library share. */
const known = new WeakMap<object, Auditing>();

export function noteAuditing(threads: TenantLibrary['threads'], auditing: Auditing): void {
  known.set(threads, auditing);
}

/** The same library for one request, whose acts write their rows to the audit. */
export const auditing = (lanefold: TenantLibrary, acts: readonly AuditedAct[]): TenantLibrary =>
  acts.length === 0 ? lanefold : known.get(lanefold.threads)!(acts);
