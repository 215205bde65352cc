import type { Scope } from '../../base/access/principal.ts';
import type { ActingFunction } from '../../base/operations/operation.ts';
import { declaredOperation } from '../declared/nouns.ts';

/** What a key needs for an operation, and what the audit says of it. */
interface OperationAccess {
  scope: Scope;
  /** `nothing`: it shows nothing of a thread. `across`: it shows other threads than the one it names. */
  about: 'nothing' | 'across' | undefined;
  /** It spans all tenants. */
  everywhere: boolean;
  /** It shows the conversation of the thread on which it acts: it is audited as a read too. */
  shows: boolean;
  audited: boolean;
  /** The function that acts and writes the row of the audit; without one, the row is written before the answer. */
  carriedOutBy: ActingFunction | undefined;
}

/** What each operation needs. One that says no scope needs `admin`, so that forgetting it never grants access. */
export function accessOf(id: string): OperationAccess {
  const declared = declaredOperation(id);
  if (declared) {
    const { scope = 'admin', about, everywhere = false, shows = false, audit } = declared;
    const audited = audit !== undefined;
    return { scope, about, everywhere, shows, audited, carriedOutBy: audit === 'here' ? undefined : audit };
  }
  return {
    scope: operationScopes[id] ?? 'admin',
    about: aboutNoThread.has(id) ? 'nothing' : acrossThreads.has(id) ? 'across' : undefined,
    everywhere: everywhere.has(id),
    shows: showing.has(id),
    audited: audited.has(id),
    carriedOutBy: audited.get(id),
  };
}

/** The scopes of operations that are not declared yet, by their `operationId`. */
export const operationScopes: Readonly<Record<string, Scope>> = {
  readStream: 'read',
  readThreadStream: 'read',
  readThreadTrace: 'read',
  readRunTrace: 'read',
  runAgUi: 'run',
  createStream: 'run',
  appendStream: 'run',
  deleteStream: 'run',
  createThreadStream: 'run',
  appendThreadStream: 'run',
  deleteThreadStream: 'run',
};

/**
 * Operations that name no thread and show nothing of any thread. Every other operation without a thread concerns all
 * threads and is closed to keys bound to some threads or agents.
 */
const aboutNoThread: ReadonlySet<string> = new Set<string>();

/** Operations that begin at a thread and show others. */
const acrossThreads: ReadonlySet<string> = new Set<string>();

/** Operations that show the conversation of the thread on which they act: they are audited as reads too. */
const showing: ReadonlySet<string> = new Set(['runAgUi']);

/** Operations over all tenants: also closed to keys bound to a tenant. */
const everywhere: ReadonlySet<string> = new Set<string>();

/**
 * Operations that are audited, and the function of the database that carries them out and writes the row; undefined: no
 * function does, and the row is written before the answer. Others audit themselves: limits, keys, webhooks and so on.
 */
const audited: ReadonlyMap<string, ActingFunction | undefined> = new Map(
  Object.entries({
    deleteStream: 'delete_stream',
    deleteThreadStream: 'delete_stream',
  } as const),
);
