import type { Scope } from '../../base/access/principal.ts';
import type { ActingFunction } from '../../base/operations/operation.ts';
import { declaredOperation } from '../declared/nouns.ts';
import type { DeclaredAccess, Door } from '../door.ts';

/** What a key needs for an operation, and what the audit says of it. */
export interface OperationAccess {
  scope: Scope;
  /** `nothing`: it shows nothing of a thread. `across`: it shows other threads than the one it names. */
  about: 'nothing' | 'across' | undefined;
  /** It spans all tenants. */
  everywhere: boolean;
  /** It shows the conversation of the thread on which it acts: it is audited as a read too. */
  shows: boolean;
  audited: boolean;
  /** The functions that act and write the rows of the audit; without any, the row is written before the answer. */
  carriedOutBy: readonly ActingFunction[];
}

export type AccessOf = (id: string) => OperationAccess;

/** What each operation needs. One that says no scope needs `admin`, so that forgetting it never grants access. */
export function accessAmong(doors: readonly Pick<Door, 'access'>[]): AccessOf {
  const ofDoors = new Map(doors.flatMap(({ access }) => Object.entries(access)));
  const declaredAs = (id: string): DeclaredAccess => declaredOperation(id) ?? ofDoors.get(id) ?? {};
  return (id) => {
    const { scope = 'admin', about, everywhere = false, shows = false, audit } = declaredAs(id);
    const audited = audit !== undefined;
    return { scope, about, everywhere, shows, audited, carriedOutBy: functionsOf(audit) };
  };
}

const functionsOf = (audit: DeclaredAccess['audit']): readonly ActingFunction[] =>
  audit === undefined || audit === 'here' ? [] : typeof audit === 'string' ? [audit] : audit;
